import CAllocationCounter
import Foundation
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct PressureMonitorTests {
    /// What a monitor delivered.
    private final class Record: Sendable {
        private let decisions = Lock<[PressureDecision]>([])
        private let loop: EventLoop

        init() throws { loop = try EventLoop() }

        var all: [PressureDecision] { decisions.withLock { $0 } }

        func note(_ decision: PressureDecision) {
            decisions.withLock { $0.append(decision) }
            loop.wake()
        }

        /// Waits until so many were delivered, woken by each.
        func wait(for count: Int) -> [PressureDecision] {
            while all.count < count { _ = loop.wait(upTo: .seconds(50)) }
            return all
        }
    }

    // MARK: Without a thread

    @Test func aTickDeliversOnlyWhatIsNew() throws {
        let clock = ManualClock()
        let source = SimulatedSource()
        let record = try Record()
        let monitor = try PressureMonitor(sources: [source], clock: clock) { record.note($0) }
        #expect(monitor.tick() == .seconds(5))
        #expect(record.all.isEmpty)
        source.set(.warning)
        monitor.tick()
        monitor.tick()
        #expect(record.all.map(\.level) == [.warning])
        #expect(monitor.level == .warning)
        #expect(abs(monitor.score - 1.0 / 3) < 1e-9)
    }

    @Test func headroomIsThatOfTheLastSample() throws {
        let source = SimulatedSource()
        let monitor = try PressureMonitor(sources: [source], clock: ManualClock()) { _ in }
        #expect(monitor.headroom == nil)
        source.set(available: .mebibytes(300), of: .mebibytes(1000))
        #expect(monitor.headroom == nil)
        monitor.tick()
        #expect(monitor.headroom?.available == .mebibytes(300))
    }

    /// Values that leave stay in the heap, and nothing becomes available. If it was the app that took them out, nobody has
    /// taken that memory; what a reclaim took and the system did not get, somebody may have.
    @Test(arguments: [false, true]) func whatTheAppTakesOutIsNoSurge(isReclaim: Bool) throws {
        let clock = ManualClock()
        let source = SimulatedSource()
        let books = MemoryBooks()
        let monitor = try PressureMonitor(sources: [source], clock: clock, books: books) { _ in }
        source.set(available: .mebibytes(20), of: .mebibytes(128))
        books.note(100 << 20)
        _ = monitor.drive()
        let before = try #require(monitor.admissionRoom).surge
        for _ in 0..<20 {
            books.note(-5 << 20)
            if isReclaim { books.note(evicted: 5 << 20) }
            clock.advance(by: .milliseconds(5))
            _ = monitor.drive()
        }
        let after = try #require(monitor.admissionRoom).surge
        #expect(isReclaim ? after > before * 1.5 : after <= before, "\(before) and \(after)")
    }

    /// P6: every call may be made from the delivery.
    @Test func aDeliveryMayCallTheMonitor() throws {
        let clock = ManualClock()
        let source = SimulatedSource(level: .critical)
        let box = Lock<PressureMonitor?>(nil)
        let levels = Lock<[PressureLevel]>([])
        let monitor = try PressureMonitor(sources: [source], clock: clock) { decision in
            let monitor = box.withLock { $0! }
            monitor.noteFreed(.mebibytes(1))
            monitor.noteReclaim(at: decision.level, duration: .milliseconds(1), returned: .mebibytes(1))
            monitor.wake()
            source.set(.warning)
            _ = (monitor.score, monitor.headroom)
            levels.withLock { $0.append(monitor.level) }
            monitor.stop()
        }
        box.withLock { $0 = monitor }
        monitor.tick()
        #expect(levels.withLock { $0 } == [.critical])
        box.withLock { $0 = nil }
    }

    @Test func aReclaimCountsAgainstTheNextGoal() throws {
        let clock = ManualClock()
        let source = SimulatedSource()
        let record = try Record()
        let monitor = try PressureMonitor(sources: [source], clock: clock) { record.note($0) }
        source.set(.warning, freeing: .mebibytes(100))
        monitor.tick()
        clock.advance(by: .milliseconds(10))
        monitor.noteReclaim(at: .warning, duration: .milliseconds(10), returned: .mebibytes(60))
        monitor.noteFreed(.mebibytes(15))
        clock.advance(by: .seconds(10))
        monitor.tick()
        #expect(record.all.map(\.reclaim?.bytes) == [.mebibytes(100), .mebibytes(25)])
    }

    /// Or the goals that readers' reclaims are taken off would vanish for good.
    @Test func manySmallReclaimsTakeNothingOffLaterGoals() throws {
        let clock = ManualClock()
        let source = SimulatedSource()
        let record = try Record()
        let monitor = try PressureMonitor(sources: [source], clock: clock) { record.note($0) }
        source.set(available: .mebibytes(500), of: .mebibytes(1000))
        for _ in 0..<1_000 {
            clock.advance(by: .milliseconds(1))
            monitor.noteFreed(.mebibytes(1))
            monitor.tick()
        }
        source.set(available: .mebibytes(150), of: .mebibytes(1000))
        for _ in 0..<100 {
            clock.advance(by: .milliseconds(10))
            monitor.tick()
        }
        #expect(record.all.first { $0.reclaim != nil }?.reclaim?.bytes == .mebibytes(100))
    }

    /// A reader that needs a sample has the monitor's thread take it: decisions come from one thread, in order.
    @Test func aReadersSampleIsTakenOnTheMonitorsThread() throws {
        let threads = Lock<Set<UInt32>>([])
        let source = SimulatedSource()
        source.set(available: .mebibytes(500), of: .mebibytes(1000))
        let monitor = try PressureMonitor(
            sources: [source],
            sampled: { threads.withLock { _ = $0.insert(UInt32.currentThread) } }
        ) { _ in }
        #expect(monitor.refreshedAdmissionRoom() == nil, "nobody watches")
        try monitor.start()
        for _ in 0..<20 { _ = monitor.refreshedAdmissionRoom() }
        while monitor.admissionRoom == nil { _ = monitor.refreshedAdmissionRoom() }
        monitor.stop()
        #expect(threads.withLock { $0.count } == 1)
        #expect(!threads.withLock { $0.contains(.currentThread) })
    }

    /// What a reader's room leaves out, the books tell.
    @Test func theBooksAreNotedWithEachSample() throws {
        let (clock, source, books) = (ManualClock(), SimulatedSource(), MemoryBooks())
        source.set(available: .mebibytes(500), of: .mebibytes(1000))
        let monitor = try PressureMonitor(sources: [source], clock: clock, books: books) { _ in }
        books.note(1000)
        _ = monitor.drive()
        books.note(70)
        books.note(-30)
        let room = try #require(monitor.admissionRoom)
        #expect(room.books == MemoryBooks.Reading(brought: 1000, returned: 0))
        #expect(room.bytes - room.left(books.reading) == 40)
        clock.advance(by: .seconds(1))
        _ = monitor.drive()
        #expect(monitor.admissionRoom.map { $0.bytes - $0.left(books.reading) } == 0)
    }

    /// P10.
    @Test func aCalmTickAllocatesNothing() throws {
        let clock = ManualClock()
        // Not the machine's: it may become short of memory meanwhile.
        let file = FileManager.default.temporaryDirectory.appending(path: "pk-meminfo-\(UUID().uuidString)").path
        try "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\n".write(toFile: file, atomically: false, encoding: .utf8)
        defer { _ = unsafe unlink(file) }
        let source = try MemoryInfoSource(path: file)
        let monitor = try PressureMonitor(sources: [source, SimulatedSource()], clock: clock) { _ in }
        monitor.tick()
        let before = pk_thread_allocations()
        for _ in 0..<100 {
            clock.advance(by: .seconds(5))
            monitor.tick()
        }
        #expect(pk_thread_allocations() - before == 0)
    }

    @Test func contradictoryThresholdsMakeNoMonitor() throws {
        var thresholds = PressureThresholds()
        thresholds.critical.enter = 0.5
        let error = try #require(throws: PressureError.self) {
            try PressureMonitor(sources: [], thresholds: thresholds) { _ in }
        }
        #expect(error.code == .invalidConfiguration)
    }

    // MARK: With its thread

    @Test func settingASourceReachesTheAppThroughTheThread() throws {
        let source = SimulatedSource()
        let record = try Record()
        let monitor = try PressureMonitor(sources: [source]) { record.note($0) }
        try monitor.start()
        try monitor.start()  // does nothing
        source.set(.warning, freeing: .mebibytes(5))
        #expect(record.wait(for: 1).map(\.level) == [.warning])
        source.set(.critical)
        #expect(record.wait(for: 2).map(\.level) == [.warning, .critical])
        monitor.stop()
        monitor.stop()  // does nothing
    }

    @Test func aStoppedMonitorSaysNothingAndMayStartAgain() throws {
        let source = SimulatedSource()
        let record = try Record()
        let monitor = try PressureMonitor(sources: [source]) { record.note($0) }
        try monitor.start()
        source.set(.warning)
        _ = record.wait(for: 1)
        monitor.stop()
        source.set(.critical)
        monitor.wake()
        #expect(monitor.level == .warning)
        try monitor.start()
        #expect(record.wait(for: 2).last?.level == .critical)
        monitor.stop()
    }

    @Test func everySourceIsAttachedOnceAndDetachedFromTheSameLoop() throws {
        final class Ledger: SignalSource {
            let name = "ledger"
            let loops = Lock<[(loop: EventLoop, attached: Bool)]>([])
            func sample(at now: MonotonicInstant) -> SignalReading? { nil }
            func attach(to loop: EventLoop) { loops.withLock { $0.append((loop, true)) } }
            func detach(from loop: EventLoop) { loops.withLock { $0.append((loop, false)) } }
        }
        let ledger = Ledger()
        let monitor = try PressureMonitor(sources: [ledger]) { _ in }
        try monitor.start()
        try monitor.start()
        monitor.stop()
        monitor.stop()
        let calls = ledger.loops.withLock { $0 }
        #expect(calls.map(\.attached) == [true, false])
        #expect(calls.first?.loop === calls.last?.loop)
    }

    /// The thread borrows the monitor for the length of a step.
    @Test func releasingTheMonitorEndsItsThread() throws {
        /// A source that tells when it is let go, which happens when the monitor is.
        final class Canary: SignalSource {
            let name = "canary"
            let released: EventLoop
            init(released: EventLoop) { self.released = released }
            deinit { released.finish() }
            func sample(at now: MonotonicInstant) -> SignalReading? { nil }
        }
        let released = try EventLoop()
        let others = Self.monitorThreads()
        var monitor: PressureMonitor? = try PressureMonitor(sources: [Canary(released: released)]) { _ in }
        try monitor?.start()
        // It names itself; one that does not, or that stays, is found by the time limit.
        while Self.monitorThreads().isSubset(of: others) { usleep(1_000) }
        monitor = nil
        while released.wait(upTo: .seconds(50)) {}
        while !Self.monitorThreads().isSubset(of: others) { usleep(1_000) }
    }

    /// The threads of this process that are a monitor's, by their names.
    private static func monitorThreads() -> Set<String> {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return Set(
            threads.filter {
                (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "pk-monitor\n"
            }
        )
    }

    @Test func manyThreadsMayUseItAtOnce() async throws {
        let source = SimulatedSource()
        let monitor = try PressureMonitor(sources: [source]) { _ in }
        let others = Self.monitorThreads()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        switch (index + round) % 6 {
                        case 0: try? monitor.start()
                        case 1: monitor.stop()
                        case 2: source.set(PressureLevel(rawValue: round % 3)!)
                        case 3: monitor.noteReclaim(at: .warning, duration: .zero, returned: .mebibytes(1))
                        case 4: monitor.wake()
                        default: _ = (monitor.level, monitor.score, monitor.headroom)
                        }
                    }
                }
            }
        }
        // However it was left, it can be begun, has one thread, and hears; what does not come is found by the time limit.
        monitor.stop()
        while !Self.monitorThreads().isSubset(of: others) { usleep(1_000) }
        source.set(.critical)
        try monitor.start()
        while monitor.level != .critical { usleep(1_000) }
        while Self.monitorThreads().subtracting(others).count != 1 { usleep(1_000) }
        monitor.stop()
    }
}
