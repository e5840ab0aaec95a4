import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSignals
@testable import PressureSystem

/// A thread that works in no hurry gets a processor when nobody else wants it: what it does may become urgent meanwhile.
@Suite struct UrgencyTests {
    private static func nice() -> CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }

    /// What a thread comes to that raises itself: its usual value where it may not.
    private static func raised() throws -> CInt {
        let seen = ConditionLock<CInt?>(nil)
        try WorkerThread.spawn("test") {
            ThreadPriority().set(isUrgent: true)
            seen.withLock { $0 = nice() }
        }
        return seen.wait { $0 }
    }

    /// Raised by another thread, it need not run to be raised, and is lowered again by itself.
    @Test(.timeLimit(.minutes(1))) func anotherThreadRaisesIt() throws {
        let priority = ConditionLock<ThreadPriority?>(nil)
        let isRaised = ConditionLock(false)
        let seen = ConditionLock<[CInt]>([])
        try WorkerThread.spawn("test") {
            let own = ThreadPriority()
            var all = [Self.nice()]
            own.set(isUrgent: false)
            priority.withLock { $0 = own }
            isRaised.wait { $0 ? () : nil }
            all.append(Self.nice())
            own.set(isUrgent: false)
            all.append(Self.nice())
            seen.withLock { $0 = all }
        }
        priority.wait { $0 }.set(isUrgent: true)
        isRaised.withLock { $0 = true }
        let all = seen.wait { $0.isEmpty ? nil : $0 }
        #expect(try all[1] == Self.raised())
        #expect(all[2] == all[0])
        // Root may; others perhaps.
        if geteuid() == 0, all[0] > -20 { #expect(all[1] < all[0]) }
    }

    /// Linux 6.12 and later go by the slice: what is in no hurry has a longer one than readers, who go first when they wake up.
    @Test(.timeLimit(.minutes(1))) func whatIsInNoHurryMakesWayForWhoWakesUp() throws {
        let seen = ConditionLock<[Int?]>([])
        try WorkerThread.spawn("test") {
            let (own, usual) = (ThreadPriority(), Self.slice())
            own.set(isUrgent: false)
            let patient = Self.slice()
            own.set(isUrgent: true)
            seen.withLock { $0 = [usual, patient, Self.slice()] }
        }
        let slices = seen.wait { $0.isEmpty ? nil : $0 }.compactMap(\.self)
        guard slices.count == 3, slices[0] != slices[2] else {
            return print("skipped: this kernel has no slices of a thread's own (Linux 6.12)")
        }
        #expect(slices[2] < slices[0] && slices[0] < slices[1], "\(slices)")
    }

    /// Of the calling thread, in nanoseconds, as the kernel says; `nil` where it says nothing.
    private static func slice() -> Int? {
        let text = try? String(contentsOfFile: "/proc/thread-self/sched", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("se.slice") }
        return line?.split(separator: ":").last.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }

    /// One who lowers it and gets no processor before the system is told must not undo what another has said since.
    @Test func whatWasSaidLastHolds() {
        let told = Shared<[Bool]>([])
        let own = Shared<ThreadPriority?>(nil)
        let priority = ThreadPriority { isUrgent in
            // Somebody comes in between.
            let other = own.value
            own.change { $0 = nil }
            if !isUrgent { other?.set(isUrgent: true) }
            told.change { $0.append(isUrgent) }
        }
        own.change { $0 = priority }
        priority.set(isUrgent: false)
        #expect(told.value == [true, false, true])
        priority.set(isUrgent: true)
        #expect(told.value.count == 3, "nothing has changed")
    }

    /// A batch that was begun in no hurry is raised by who finds that it is urgent, or asks for a reclaim, and goes on so.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func aBatchUnderWayIsRaised(isAskedFor: Bool) throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let clock = manager.context.clock
        let progress = ConditionLock<Slow.Progress>(.init())
        let cache = try manager.root.cache("slow", initialValue: Slow(progress: progress))
        let room: @Sendable () -> AdmissionRoom? = {
            AdmissionRoom(bytes: 3 << 20, takenAt: clock.now(), low: 4 << 20, high: 6 << 20, overdraft: 1 << 20)
        }
        let thread = try ReclaimThread(context: manager.context, root: manager.root)
        manager.context.admission.connect(
            Admission.Supply(room: room, refresh: room, reclaim: { _, done in done(.zero) })
        )
        thread.makeRoom(isUrgent: false)
        progress.wait { $0.nice.isEmpty ? nil : () }
        if isAskedFor {
            let cause = PressureCause(origin: .request, source: "test", levelBefore: .normal, levelAfter: .normal)
            thread.request(ReclaimRequest(cause: cause, amount: .everything, warns: false))
        } else {
            thread.makeRoom(isUrgent: true)
        }
        progress.withLock { $0.isRaised = true }
        let nice = progress.wait { $0.nice.count == 2 ? $0.nice : nil }
        #expect(nice == [Self.nice(), try Self.raised()])
        manager.context.admission.connect(nil)
        thread.stop()
        thread.waitUntilEnded()
        withExtendedLifetime(cache) {}
    }

    /// Others run while a batch is made that is in no hurry, and nothing that they need is locked then: not the tree, nor a cache.
    @Test(arguments: [false, true], [1, 200]) func othersRunBetweenTwoSteps(isUrgent: Bool, controllers: Int) throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let caches = try (0..<controllers).map { number in
            let child = PressureController("\(number)")
            try manager.root.addChild(child)
            return try child.keyedCache("values") { (key: Int) in [UInt8](repeating: 1, count: 1000) }
        }
        for key in 0..<2000 / controllers { for cache in caches { try cache.loadIfNeeded(for: key) } }
        let turns = Shared(0)
        let letOthersRun: @Sendable () -> Void = {
            turns.change { $0 += 1 }
            let visitor = PressureController("visitor")
            #expect(throws: Never.self) {
                try manager.root.addChild(visitor)
                for cache in caches { _ = try cache.valueIfPresent(for: 0) }
            }
            visitor.removeFromParent()
        }
        let priority = ThreadPriority(apply: { _ in }, letOthersRun: letOthersRun)
        priority.set(isUrgent: false)
        let batch = ReclaimBatch(goal: 100_000, isUrgent: isUrgent)
        let freed = manager.context.engine.reclaim(batch, root: manager.root, priority: priority)
        #expect(freed >= 100_000)
        #expect(isUrgent ? turns.value == 0 : turns.value > 10)
    }

    /// Who comes to wait for it meanwhile ends that.
    @Test func whoIsUrgentLetsNobodyRun() {
        let turns = Shared(0)
        let priority = ThreadPriority(apply: { _ in }, letOthersRun: { turns.change { $0 += 1 } })
        for isUrgent in [false, true, false] {
            priority.set(isUrgent: isUrgent)
            priority.yield()
        }
        #expect(turns.value == 2)
    }

    /// Says what the thread's priority is while it is encoded, before and after somebody has raised it.
    private struct Slow: EncodedSpillable {
        struct Progress: Sendable {
            var nice: [CInt] = []
            var isRaised = false
        }

        var progress: ConditionLock<Progress>?

        var footprint: Int { 1 << 20 }

        init(progress: ConditionLock<Progress>) { self.progress = progress }

        func writeSpillBytes(to writer: SpillWriter) throws {
            if let progress, progress.withLock({ $0.nice.count < 2 }) {
                progress.withLock { $0.nice.append(UrgencyTests.nice()) }
                progress.wait { $0.isRaised ? () : nil }
                progress.withLock { $0.nice.append(UrgencyTests.nice()) }
            }
            try writer.write("slow")
        }

        init(spillBytes: RawSpan) throws {}
    }

    /// Whoever looks at the room says with it how urgent it is, also while a batch is being made.
    @Test func aLookSaysHowUrgentItIs() throws {
        let clock = ManualClock()
        let room = Lock(0)
        let told = Lock<[Bool]>([])
        let admission = Admission(clock: clock)
        let supply = Admission.Supply(
            room: {
                AdmissionRoom(
                    bytes: room.withLock { $0 },
                    takenAt: clock.now(),
                    low: 4 << 20,
                    high: 6 << 20,
                    overdraft: 1 << 20
                )
            },
            refresh: { nil },
            reclaim: { _, done in done(.zero) },
            wakeBackground: { isUrgent in told.withLock { $0.append(isUrgent) } }
        )
        admission.connect(supply)
        for left in [5, 3, 1] {
            room.withLock { $0 = left << 20 }
            admission.keepWatermarks()
        }
        #expect(told.withLock { $0 } == [false, true], "nothing at all with enough left")
    }
}
