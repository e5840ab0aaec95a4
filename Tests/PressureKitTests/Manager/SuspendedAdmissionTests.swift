import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Loads that suspend while they wait for memory.
@Suite(.timeLimit(.minutes(5))) struct SuspendedAdmissionTests {
    typealias Bank = AdmissionTests.Bank

    @Test func whatFitsGoesAndWhatDoesNotHasThatMuchFreedFirst() async throws {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        let admission = bank.admission()
        let first = try await admission.admitSuspending(4 << 20)
        #expect(bank.wanted.isEmpty)
        let second = try await admission.admitSuspending(26 << 20)
        #expect(bank.wanted == [.mebibytes(20)])
        #expect(admission.counts.admitted == 1 && admission.counts.reclaimed == 1)
        admission.end(first)
        admission.end(second)
        let unwatched = Bank(room: nil) { $0 }.admission()
        unwatched.end(try await unwatched.admitSuspending(1 << 40))
        #expect(unwatched.counts.admitted == 1)
    }

    @Test func anOldSampleIsRenewedFirst() async throws {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        bank.clock.advance(by: .seconds(3))
        let admission = bank.admission()
        admission.end(try await admission.admitSuspending(9 << 20))
        #expect(bank.state.withLock { $0.refreshes } == 1)
        #expect(bank.wanted.isEmpty)
    }

    /// Five hundred wait, with one thread between them, and go on as their bytes come free.
    @Test func manyWaitWithoutAThreadEach() async throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let entered = Shared(0)
        let loads = (0..<500).map { _ in
            Task {
                let pass = try await admission.admitSuspending(4 << 20)
                admission.books.note(4 << 20)
                admission.end(pass)
                entered.change { $0 += 1 }
            }
        }
        while admission.sleepers.count < 500 { await Task.yield() }
        #expect(entered.value == 0)
        for number in 1...100 {
            admission.books.note(-4 << 20)
            while entered.value < number { await Task.yield() }
        }
        #expect(entered.value == 100)
        for _ in 0..<400 { admission.books.note(-4 << 20) }
        for load in loads { try await load.value }
        #expect(admission.counts.reclaimed == 500)
        #expect(admission.books.reading.growth(since: .init()) == 0)
    }

    @Test func whoIsCancelledWaitsNoLongerAndKeepsNoPlace() async throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let loads = (0..<10).map { _ in Task { try await admission.admitSuspending(4 << 20) } }
        while admission.sleepers.count < 10 { await Task.yield() }
        for load in loads { load.cancel() }
        for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
        #expect(admission.sleepers.count == 0)
        bank.state.withLock { $0.room?.bytes = 8 << 20 }
        admission.end(try await admission.admitSuspending(4 << 20))
        #expect(admission.counts.admitted == 1)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await admission.admitSuspending(40 << 20)
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func waitingIsBoundedWhereNothingComesFree() async throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .milliseconds(10))
        admission.end(try await admission.admitSuspending(5 << 20))
        #expect(admission.counts.overdrawn == 1)
        let fruitless = Bank(room: .zero) { _ in .zero }
        let other = fruitless.admission(patience: .milliseconds(1))
        for _ in 0..<10 { other.end(try await other.admitSuspending(5 << 20)) }
        #expect(fruitless.wanted.count == 1)
        #expect(other.counts.overdrawn == 10)
    }

    /// A value that was set is there: its task waits until as much is free, unless it is cancelled.
    @Test func whoSetsAValueWaitsForRoomToo() async throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        admission.books.note(8 << 20)
        let setter = Task { await admission.arrivedSuspending(8 << 20) }
        while admission.sleepers.count < 1 { await Task.yield() }
        #expect(bank.wanted == [.mebibytes(8)])
        admission.books.note(-8 << 20)
        await setter.value
        admission.books.note(8 << 20)
        let cancelled = Task { await admission.arrivedSuspending(8 << 20) }
        while admission.sleepers.count < 1 { await Task.yield() }
        cancelled.cancel()
        await cancelled.value
    }

    /// A load of an async cache suspends for its room, and one that nobody waits for gives its place up.
    @Test func aLoadOfAnAsyncCacheSuspendsForItsRoom() async throws {
        let simulated = SimulatedSource()
        simulated.set(available: .mebibytes(400), of: .mebibytes(1000))
        var configuration = PressureConfiguration()
        configuration.sources = [.simulated(simulated)]
        let manager = try PressureManager(configuration: configuration)
        let held = try manager.root.cache("held") { [UInt8](repeating: 7, count: 8 << 20) }
        try held.loadIfNeeded()
        let gate = Gate()
        gate.open()
        let cache = try manager.root.keyedCache("tiles") { (key: Int) in
            await gate.pass()
            return [UInt8](repeating: UInt8(key), count: 1 << 20)
        }
        let task = Task { try await manager.run() }
        while manager.snapshot().available == nil { await Task.yield() }
        try await cache.loadIfNeeded(for: 0)
        let admission = manager.context.admission
        // What the next one is expected to take does not fit.
        let pass = admission.admit(360 << 20)
        let before = manager.snapshot().admission
        for _ in 0..<64 { cache.entry.statistics.noteLoad(.zero, footprint: 64 << 20) }
        let reader = Task { try await cache.withValue(for: 1) { $0[0] } }
        // The background reclaim may have emptied the other one before the reader came.
        while held.isLoaded || admission.sleepers.count == 0 { await Task.yield() }
        #expect(gate.arrivals == 1, "the loader runs when there is room")
        admission.end(pass)
        #expect(try await reader.value == 1)
        #expect(gate.arrivals == 2)
        let after = manager.snapshot().admission
        #expect(after.reclaimed + after.overdrawn - before.reclaimed - before.overdrawn == 1)
        task.cancel()
        _ = try? await task.value
        await manager.shutdown()
    }
}
