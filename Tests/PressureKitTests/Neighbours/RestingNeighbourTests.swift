import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals
@testable import PressureSystem

/// The books that are noted with a sample, where nothing was new for a while.
@Suite struct RestingNeighbourTests {
    /// A process on a board, sample by sample.
    private struct Seat {
        let books = MemoryBooks()
        let neighbours: Neighbours

        init(_ board: InMemoryBoard) {
            neighbours = Neighbours(on: board, books: books)
        }

        func sample(available: Int, at milliseconds: Int64) throws {
            let now = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
            let headroom = try #require(Headroom(available: .mebibytes(available), limit: .mebibytes(128)))
            var readings: [SignalReading?] = [
                SignalReading(origin: .cgroup, source: "/limit", measure: .headroom(headroom), takenAt: now)
            ]
            neighbours.begin(at: now)
            let held = max(0, books.reading.resident)
            neighbours.exchange(&readings, reclaimable: held, held: held, resident: nil, at: now)
        }
    }

    /// While one rests, another gives back 64 MiB and brings as much. Noted with returns alone, that would be 64 MiB that have
    /// come since, and whoever rests would make room for them.
    @Test func whatANeighbourHasTradedMeanwhileHasNotComeSince() throws {
        let board = InMemoryBoard()
        let (resting, trading) = (Seat(board), Seat(board))
        for (step, seat) in [trading, resting, trading, resting, resting].enumerated() {
            if step == 0 { trading.books.note(50 << 20) }
            try seat.sample(available: 60, at: Int64(step + 1) * 10)
        }
        #expect(try #require(resting.neighbours.noted(at: 0)).resident == 0, "since it is known")
        trading.books.note(-64 << 20)
        trading.books.note(64 << 20)
        try trading.sample(available: 60, at: 100)
        // Something new: it looks.
        try resting.sample(available: 50, at: 110)
        #expect(try #require(resting.neighbours.noted(at: 0)).resident == 0)
        let since = resting.neighbours.change(
            at: 0,
            since: try #require(resting.neighbours.noted(at: 0)),
            isWaitedFor: true,
            at: MonotonicInstant(nanoseconds: 120_000_000)
        )
        #expect(since.resident == 0)
    }
}
