import PressureSystem
import Synchronization

/// A board that this process has joined, as all threads see it: what is asked between two samples, by whoever loads or frees.
/// Takes no lock of the monitor's.
final class Seating: Sendable {
    /// What the newest sample says of it.
    struct Numbers: BitwiseCopyable {
        var limit = 0
        var books = MemoryBooks.Reading()
        /// Whether it brought nothing new.
        var isQuiet = false
        /// The others' books at that sample.
        var noted = MemoryBooks.Reading()
    }

    let board: Board
    let numbers = Published(Numbers())
    private let own: OwnMemory
    /// What this process said that it is bringing in.
    private let said = Atomic<Int>(0)

    init(_ board: Board, _ own: OwnMemory) {
        self.board = board
        self.own = own
    }

    /// Whether anybody shares the limit.
    var hasCompany: Bool { board.count > 0 }

    /// What this process is bringing in, as it was last said.
    var underWay: Int { said.load(ordering: .relaxed) }

    /// What the others have brought and given back since an earlier reading of their books.
    func change(since earlier: MemoryBooks.Reading, isWaitedFor: Bool, at now: MonotonicInstant) -> MemoryBooks.Reading
    {
        let numbers = numbers.value
        if isWaitedFor || !numbers.isQuiet || own.books.reading != numbers.books { board.look(at: now) }
        let others = board.othersBooks
        let change = MemoryBooks.Reading(
            brought: others.brought - earlier.brought,
            returned: others.returned - earlier.returned
        )
        // Of another board, after a move, it would be no difference.
        guard change.brought >= 0, change.returned >= 0, abs(change.resident) <= numbers.limit else {
            return MemoryBooks.Reading()
        }
        return change
    }

    /// What this process is to free of so many bytes that are missing.
    func part(of need: Int, underWay: Int, at now: MonotonicInstant) -> Int {
        board.part(of: need, own.member(underWay: underWay), at: now)
    }

    /// Says what this process is bringing in, and what it holds; learns what the others are bringing in.
    func tell(underWay: () -> Int, at now: MonotonicInstant) -> Int {
        board.exchange(limit: numbers.value.limit, .known, at: now) {
            let underWay = underWay()
            said.store(underWay, ordering: .relaxed)
            return own.said(underWay: underWay)
        }
        return board.others.underWay
    }

    /// How this process stands among those who share the limit.
    var standing: Neighbours.Standing {
        Neighbours.Standing(
            count: board.count,
            held: board.others.held,
            budget: board.budget(own.member(), need: 0)
        )
    }
}
