import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureSignals
@testable import PressureSystem

/// Who stops watching leaves the board, at once and for good.
@Suite(.timeLimit(.minutes(1))) struct LeavingNeighbourTests {
    /// A limit, which stops the monitor while it is being sampled, if that is wanted.
    private final class Limit: SignalSource {
        let name = "/limit"
        let whileSampled = Shared<(@Sendable () -> Void)?>(nil)

        func sample(at now: MonotonicInstant) -> SignalReading? {
            whileSampled.value?()
            return Headroom(available: .mebibytes(60), limit: .mebibytes(128)).map {
                SignalReading(origin: .cgroup, source: name, measure: .headroom($0), takenAt: now)
            }
        }
    }

    private func monitor(_ limit: Limit, _ board: InMemoryBoard) throws -> PressureMonitor {
        let books = MemoryBooks()
        let neighbours = Neighbours(on: board, books: books)
        return try PressureMonitor(sources: [limit], clock: ManualClock(), books: books, neighbours: neighbours) { _ in
        }
    }

    /// The process may end right after: nobody would remove what such a sample has joined.
    @Test func aSampleThatIsUnderWayWhenTheMonitorStopsJoinsNothing() async throws {
        let (limit, board) = (Limit(), InMemoryBoard())
        let monitor = try monitor(limit, board)
        let hasSampled = Gate()
        limit.whileSampled.change { $0 = { [weak monitor] in monitor?.stop() } }
        // Sampled by hand, the monitor stops in the middle of it.
        try monitor.start()
        monitor.tick()
        #expect(board.slots.isEmpty)
        // Started again, it is there again.
        limit.whileSampled.change { $0 = { hasSampled.open() } }
        try monitor.start()
        try await hasSampled.passUnlessCancelled()
        while board.slots.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        monitor.stop()
        #expect(board.slots.isEmpty)
    }

    /// A thread that loads may still have the board in its hands.
    @Test func whoHasLeftSaysNothingMore() throws {
        let shared = InMemoryBoard()
        let now = MonotonicInstant(nanoseconds: 1)
        let board = Board(try shared.join(), share: MemoryShare(), process: 1, at: now)
        var own = Board.Own(member: ShortageShares.Member(held: 7, free: 0, dirty: 0), books: .init(), awaited: 0)
        board.exchange(limit: 100, .all, at: now) { own }
        #expect(shared.slots.map(\.held) == [7])
        board.leave()
        #expect(shared.slots.isEmpty)
        let next = try shared.join()
        #expect(next.place == 0)
        own.member.held = 8
        board.exchange(limit: 100, .all, at: now) { own }
        #expect(shared.slots.isEmpty, "it is the next one's")
        // Nor does it take the next one's place from him when it is let go of.
        board.leave()
        #expect(next.isHeld(0))
    }
}
