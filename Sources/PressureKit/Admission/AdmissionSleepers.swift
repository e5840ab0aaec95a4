import PressureSystem

/// The tasks that wait for memory, in the order in which they came.
final class AdmissionSleepers: Sendable {
    /// One of them. Resumed once, by whoever takes it out of the list.
    struct Sleeper: Sendable {
        fileprivate let ticket: UInt64
        fileprivate(set) var wait: Admission.Wait
        /// When its patience ends.
        fileprivate var deadline: ContinuousClock.Instant
        private let task: Suspended<End>

        /// Its load may go on.
        func goOn() { task.resume(returning: (wait.pass, true)) }

        /// Its task was cancelled.
        func stop() { task.resume(returning: (wait.pass, false)) }

        init(
            _ ticket: UInt64,
            _ wait: Admission.Wait,
            until deadline: ContinuousClock.Instant,
            _ task: Suspended<End>
        ) {
            self.ticket = ticket
            self.wait = wait
            self.deadline = deadline
            self.task = task
        }
    }

    /// How waiting has ended.
    typealias End = (pass: Admission.Pass, mayGo: Bool)

    /// What became of one that was to be added.
    enum Addition {
        /// A thread looks for it.
        case isServed
        /// It is in the list, and no thread looks.
        case needsThread
        /// Its task was cancelled; it is not in the list.
        case isCancelled
    }

    private struct State {
        var sleepers: [Sleeper] = []
        var isServed = false
        var lastTicket: UInt64 = 0
        /// Whether the thread that looks has not seen all there are.
        var hasNew = false
    }

    private let state = Lock(State())

    /// By which a cancellation finds the one it means.
    func takeTicket() -> UInt64 {
        state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    /// How many wait.
    var count: Int { state.withLock { $0.sleepers.count } }

    func add(_ sleeper: Sleeper) -> Addition {
        state.withLock { state in
            // A task is marked before its handler runs: one that is cancelled later is found in the list.
            if Task.isCancelled { return .isCancelled }
            state.sleepers.append(sleeper)
            state.hasNew = true
            defer { state.isServed = true }
            return state.isServed ? .isServed : .needsThread
        }
    }

    func remove(_ ticket: UInt64) -> Sleeper? {
        state.withLock { state in
            state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
        }
    }

    /// When the first one's patience ends; `nil` when nobody waits, and nobody looks from now on.
    func nextDeadline() -> ContinuousClock.Instant? {
        state.withLock { state in
            state.hasNew = false
            state.isServed = !state.sleepers.isEmpty
            return state.sleepers.map(\.deadline).min()
        }
    }

    /// Takes out those that `look` says something of and that are over by it; else says what the first of them lacks. Nobody,
    /// when somebody has come meanwhile or nobody waits.
    func takeReady(
        _ look: (inout Admission.Wait) -> MemoryBooks.Look<Admission.Outcome>,
        isOver: (inout Admission.Wait, Admission.Outcome) -> Bool
    ) -> MemoryBooks.Look<[Sleeper]> {
        state.withLock { state in
            var ready: [Sleeper] = []
            var lack = Int.max
            // In the order in which they came.
            for index in state.sleepers.indices {
                switch look(&state.sleepers[index].wait) {
                case .lacks(let bytes): lack = min(lack, bytes)
                case .found(let outcome):
                    if isOver(&state.sleepers[index].wait, outcome) {
                        ready.append(state.sleepers[index])
                    } else {
                        lack = 0
                    }
                }
            }
            if !ready.isEmpty {
                let tickets = Set(ready.map(\.ticket))
                state.sleepers.removeAll { tickets.contains($0.ticket) }
            }
            guard ready.isEmpty, !state.hasNew, !state.sleepers.isEmpty else { return .found(ready) }
            return .lacks(max(lack, MemoryBooks.worthALook(of: state.sleepers.count)))
        }
    }

    /// Takes out those whose patience has ended and that are over by it; the others have as much again.
    func takeLate(
        at now: ContinuousClock.Instant,
        _ patience: Duration,
        isOver: (inout Admission.Wait) -> Bool
    ) -> [Sleeper] {
        state.withLock { state in
            var late: [Sleeper] = []
            for index in state.sleepers.indices.reversed() where state.sleepers[index].deadline <= now {
                if isOver(&state.sleepers[index].wait) {
                    late.append(state.sleepers.remove(at: index))
                } else {
                    state.sleepers[index].deadline = now + patience
                }
            }
            return late
        }
    }
}
