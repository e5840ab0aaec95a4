import PressureSystem

/// A board in memory: what several processes share, for managers that live in one, as in virtual time.
package final class InMemoryBoard: Sendable {
    private struct State {
        var header = BoardShortage().words
        var slots = Array(repeating: BoardLayout.Words(repeating: 0), count: BoardLayout.slots)
        var held = Array(repeating: false, count: BoardLayout.slots)
        var notifications = 0
        var reads = 0
    }

    private let state = Lock(State())
    private let hasFired: @Sendable () -> Void

    /// Nobody is there.
    ///
    /// - Parameter hasFired: Called with each notification, by whoever notifies: all others are to look.
    package init(hasFired: @escaping @Sendable () -> Void = {}) { self.hasFired = hasFired }

    /// How often somebody has notified.
    package var notifications: Int { state.withLock { $0.notifications } }

    /// How often somebody has read.
    package var reads: Int { state.withLock { $0.reads } }

    /// What stands in the slots that somebody holds.
    package var slots: [BoardSlot] {
        state.withLock { state in
            state.slots.indices.filter { state.held[$0] }.compactMap { BoardSlot(state.slots[$0]) }
        }
    }

    /// Takes a slot, which is given back when it is released.
    package func join() throws(BoardFile.Refusal) -> Seat {
        let place = state.withLock { state -> Int? in
            guard let place = state.held.firstIndex(of: false) else { return nil }
            state.held[place] = true
            state.slots[place] = BoardLayout.Words(repeating: 0)
            return place
        }
        guard let place else { throw .full }
        return Seat(board: self, place: place)
    }

    /// The holder of a slot is killed: what stands there stays.
    package func kill(_ place: Int) { state.withLock { $0.held[place] = false } }

    /// One process's view.
    package final class Seat: BoardStore {
        private let board: InMemoryBoard
        package let place: Int
        private let hasLeft = Lock(false)

        fileprivate init(board: InMemoryBoard, place: Int) {
            self.board = board
            self.place = place
        }

        deinit { leave() }

        package func read(
            slots: Int,
            _ body: (borrowing BoardLayout.Words, (Int) -> BoardLayout.Words) -> Void
        ) -> Bool {
            let (header, slots) = board.state.withLock { state in
                state.reads += 1
                return (state.header, state.slots)
            }
            body(header) { slots[$0] }
            return true
        }

        package func write(_ slot: borrowing BoardLayout.Words) {
            let words = copy slot
            hasLeft.withLock { hasLeft in
                if !hasLeft { board.state.withLock { $0.slots[place] = words } }
            }
        }

        package func write(header: borrowing BoardLayout.Words) {
            let words = copy header
            board.state.withLock { $0.header = words }
        }

        package func isHeld(_ place: Int) -> Bool { board.state.withLock { $0.held[place] } }

        package func notify() {
            board.state.withLock { $0.notifications += 1 }
            board.hasFired()
        }

        package func leave() {
            hasLeft.withLock { hasLeft in
                if !hasLeft { board.kill(place) }
                hasLeft = true
            }
        }
    }
}
