#if !THREAD_SANITIZER  // Makes or weighs processes.
import PressureKitTestSupport
import Testing

@testable import PressureSignals
@testable import PressureSystem

/// Three processes below one limit, in every order of their steps: each may join, look, free what it is asked for, leave, die or
/// lie at any time. What they free together is what is needed, and no process's end or lies leave a shortage standing.
@Suite struct BoardModelTests {
    /// What a process may do next. A reclaim is two steps: what it decides on, it carries out later.
    enum Move: Hashable, CaseIterable, Sendable { case decide, free, die, leave, lie, join }

    /// A process and what it has decided on.
    private final class Process {
        var board: Board?
        var seat: InMemoryBoard.Seat?
        var held: Int
        var books = MemoryBooks.Reading()
        var due = 0
        var isDead = false

        init(held: Int) {
            self.held = held
            books.brought = held
        }
    }

    private final class World {
        static let limit = 1000
        let shared = InMemoryBoard()
        var processes: [Process]
        /// Bytes that others have taken.
        let taken: Int
        var now = MonotonicInstant(nanoseconds: 0)
        var freed = 0

        init(held: [Int], taken: Int) {
            processes = held.map(Process.init)
            self.taken = taken
        }

        var need: Int { max(0, taken + processes.reduce(0) { $0 + ($1.isDead ? 0 : $1.held) } - Self.limit) }

        func join(_ index: Int) {
            let process = processes[index]
            guard process.board == nil, !process.isDead, let seat = try? shared.join() else { return }
            process.seat = seat
            process.board = Board(seat, share: MemoryShare(), process: Int32(index + 1), at: now)
            exchange(index)
        }

        func own(_ process: Process) -> Board.Own {
            Board.Own(
                member: .init(held: process.held, free: process.held),
                books: process.books,
                awaited: 0,
                resident: process.held
            )
        }

        func exchange(_ index: Int) {
            let process = processes[index]
            process.board?.exchange(limit: Self.limit, .alive, at: now) { own(process) }
        }

        func make(_ move: Move, by index: Int) {
            let process = processes[index]
            guard !process.isDead else { return }
            switch move {
            case .join: join(index)
            case .decide:
                exchange(index)
                let part = process.board?.part(of: need, own(process).member, at: now) ?? need
                process.due = min(part, process.held)
            case .free:
                let bytes = min(process.due, process.held)
                process.due = 0
                process.held -= bytes
                process.books.returned += bytes
                freed += bytes
                exchange(index)
            case .leave: (process.board, process.seat) = (nil, nil)
            case .die:
                if let place = process.seat?.place { shared.kill(place) }
                process.isDead = true
            case .lie:
                var slot = BoardSlot()
                slot.owner = UInt64(index + 1) << 32 | 0xBAD
                (slot.held, slot.free, slot.claim) = (.max / 2, .max / 2, 1e300)
                process.seat?.write(slot.words)
            }
        }
    }

    private static func orders(of moves: [(Int, Move)]) -> [[(Int, Move)]] {
        // All interleavings that keep each process's own order.
        guard !moves.isEmpty else { return [[]] }
        var found: [[(Int, Move)]] = []
        for index in Set(moves.map(\.0)).sorted() {
            let first = moves.firstIndex { $0.0 == index }!
            var rest = moves
            let move = rest.remove(at: first)
            found += orders(of: rest).map { [move] + $0 }
        }
        return found
    }

    private static func script(_ moves: [[Move]]) -> [(Int, Move)] {
        moves.enumerated().flatMap { index, moves in moves.map { (index, $0) } }
    }

    /// 1,680 orders of decide, free, decide for three.
    @Test func inEveryOrderWhatIsFreedIsWhatIsNeeded() {
        let scripts = Self.orders(of: Self.script(Array(repeating: [.decide, .free, .decide], count: 3)))
        #expect(scripts.count == 1680)
        for held in [[300, 300, 300], [500, 300, 100], [900, 0, 0]] {
            for script in scripts {
                let world = World(held: held, taken: 250)
                for index in 0..<3 { world.join(index) }
                for index in 0..<3 { world.exchange(index) }
                let need = world.need
                for (index, move) in script { world.make(move, by: index) }
                for index in 0..<3 { world.make(.free, by: index) }
                #expect(world.need == 0, "\(held) \(script)")
                #expect(world.freed <= need + 6, "\(held) \(script): \(world.freed) of \(need)")
            }
        }
    }

    /// Whatever one of them does meanwhile, the others end the shortage, and not by more than it.
    @Test(arguments: [Move.die, .leave, .lie]) func whoeverGoesOrLiesTheShortageEnds(_ mishap: Move) {
        let moves: [[Move]] = [[.decide, .free], [.decide, .free], [.decide, mishap]]
        for script in Self.orders(of: Self.script(moves)) {
            let world = World(held: [400, 300, 200], taken: 300)
            for index in 0..<3 { world.join(index) }
            for index in 0..<3 { world.exchange(index) }
            for (index, move) in script { world.make(move, by: index) }
            let alive = [0, 1]
            // Who does not give is not counted on after a while; a look each 20 ms.
            var rounds = 0
            while world.need > 0, rounds < 20 {
                world.now = world.now + .milliseconds(20)
                for index in alive {
                    world.make(.decide, by: index)
                    world.make(.free, by: index)
                }
                rounds += 1
            }
            #expect(world.need == 0, "\(mishap) \(script)")
            let kept = world.processes.filter { !$0.isDead }.reduce(0) { $0 + $1.held }
            #expect(kept >= 700 - 200 - 6 || mishap != .die, "\(mishap) \(script): \(kept) kept")
        }
    }

    /// Joining in the middle of a shortage takes part in what is left of it, in every order.
    @Test func whoComesInTheMiddleTakesPart() {
        let moves: [[Move]] = [[.decide, .free, .decide, .free], [.decide, .free], [.join, .decide, .free]]
        for script in Self.orders(of: Self.script(moves)) {
            let world = World(held: [400, 300, 200], taken: 300)
            for index in 0..<2 { world.join(index) }
            for index in 0..<2 { world.exchange(index) }
            let need = world.need
            for (index, move) in script { world.make(move, by: index) }
            for _ in 0..<4 {
                world.now = world.now + .milliseconds(20)
                for index in 0..<3 {
                    world.make(.decide, by: index)
                    world.make(.free, by: index)
                }
            }
            #expect(world.need == 0, "\(script)")
            #expect(world.freed <= need + 8, "\(script): \(world.freed) of \(need)")
        }
    }

    /// A slot of somebody who was killed counts no more where it matters.
    @Test func theDeadHoldNothing() {
        let world = World(held: [300, 300, 300], taken: 200)
        for index in 0..<3 { world.join(index) }
        world.make(.die, by: 2)
        world.exchange(0)
        #expect(world.processes[0].board?.count == 1)
        #expect(world.shared.slots.count == 2)
    }
}
#endif
