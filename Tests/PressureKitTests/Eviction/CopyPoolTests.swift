import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

@Suite struct CopyPoolTests {
    /// On a busy machine the leader would wait for a helper that nobody lets run.
    @Test(.timeLimit(.minutes(1))) func helpersRunAsSoonAsTheirLeader() throws {
        let others = Self.priorities("pk-copy-1").keys
        let soon = Lock<CInt?>(nil)
        try WorkerThread.spawn("test") {
            ThreadPriority().set(isUrgent: true)
            soon.withLock { $0 = getpriority(CInt(PRIO_PROCESS.rawValue), 0) }
        }
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.workers = 2 }
        // Threads first start, then name themselves; what does not come is found by the time limit.
        while true {
            let helpers = Self.priorities("pk-copy-1").filter { !others.contains($0.key) }
            if let soon = soon.withLock({ $0 }), helpers.values.contains(soon) { break }
            usleep(1_000)
        }
        withExtendedLifetime(manager) {}
    }

    /// A full cache that is read makes room all the time, and readers have the processors.
    @Test func whoIsInNoHurryHasItsUsualShare() throws {
        let seen = ConditionLock<[CInt]>([])
        try WorkerThread.spawn("test") {
            func nice() -> CInt { getpriority(CInt(PRIO_PROCESS.rawValue), 0) }
            var all = [nice()]
            let priority = ThreadPriority()
            for isUrgent in [true, true, false, false, true] {
                priority.set(isUrgent: isUrgent)
                all.append(nice())
            }
            seen.withLock { $0 = all }
        }
        let all = seen.wait { $0.isEmpty ? nil : $0 }
        #expect(all[2] == all[1] && all[5] == all[1], "no further each time")
        #expect(all[3] == all[0] && all[4] == all[0])
        // Where a higher one is allowed at all.
        #expect(all[1] == max(-20, all[0] - 10) || all[1] == all[0])
    }

    /// Helpers would take the processors from those who read.
    @Test(arguments: [false, true]) func helpersLeaveABatchAloneThatIsInNoHurry(isUrgent: Bool) throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.workers = 2 }
        let threads = Shared<[UInt: Int]>([:])
        let caches = try (0..<16).map { number in
            try manager.root.cache("\(number)", initialValue: Slow(threads: threads))
        }
        // Nobody else reclaims: the manager does not run.
        let batch = ReclaimBatch(goal: .max / 2, isUrgent: isUrgent)
        let freed = manager.context.engine.reclaim(batch, root: manager.root)
        #expect(freed > 0)
        let counts = threads.value
        #expect(counts.values.reduce(0, +) == 16)
        #expect(counts.count == (isUrgent ? 2 : 1))
        #expect(counts[UInt(pthread_self())] == nil, "who frees memory does not write")
        withExtendedLifetime(caches) {}
    }

    /// Takes so long to encode that whoever may help does.
    private struct Slow: EncodedSpillable {
        var threads: Shared<[UInt: Int]>?

        var footprint: Int { 1 << 16 }

        init(threads: Shared<[UInt: Int]>) { self.threads = threads }

        func writeSpillBytes(to writer: SpillWriter) throws {
            threads?.change { $0[UInt(pthread_self()), default: 0] += 1 }
            usleep(20_000)
            try writer.write("slow")
        }

        init(spillBytes: RawSpan) throws {}
    }

    /// Of the threads with a name, by their numbers.
    private static func priorities(_ name: String) -> [String: CInt] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let named = threads.filter {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == name + "\n"
        }
        return Dictionary(
            uniqueKeysWithValues: named.map { ($0, getpriority(CInt(PRIO_PROCESS.rawValue), id_t($0) ?? 0)) }
        )
    }
}
