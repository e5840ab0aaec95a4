import PressureKit

/// Virtual time: what is side by side takes turns, in an order that depends on nothing but virtual time itself.
///
/// Each of those has a thread, and one of them at a time has the baton and runs. It hands the baton on between two pieces
/// of work: to whoever has had least of the processor so far, the first of several. When all sleep, the clock moves on to
/// the moment at which the first is to wake, or at which something is to be repeated.
final class VirtualPace: Pace {
    /// One of several things that are done side by side.
    private struct Lane {
        /// The virtual time in which it has been at work, in nanoseconds.
        var spent: Int64
        /// Until when it sleeps.
        var wakesAt: MonotonicInstant?
        /// Those that it waits for.
        var children = 0
        /// Who waits for it.
        var parent: Int?
    }

    /// What is done again whenever the time that it asks for is over.
    final class Repetition: Sendable {
        fileprivate let body: @Sendable () -> Duration
        private let next: Lock<MonotonicInstant?>

        fileprivate init(due: MonotonicInstant, _ body: @escaping @Sendable () -> Duration) {
            next = Lock(due)
            self.body = body
        }

        /// When it is to be done next; `nil` once it has ended.
        fileprivate var due: MonotonicInstant? {
            get { next.withLock { $0 } }
            set { next.withLock { if $0 != nil { $0 = newValue } } }
        }

        fileprivate func isDue(at now: MonotonicInstant) -> Bool { due.map { $0 <= now } ?? false }

        /// It is not done any more.
        func end() { due = nil }
    }

    private struct State {
        var lanes: [Int: Lane] = [0: Lane(spent: 0)]
        var nextLane = 1
        /// Who has the baton. Only its thread changes anything here.
        var holder = 0
        /// When it got it.
        var since = VirtualClock.origin
        var repetitions: [Repetition] = []
    }

    let virtualClock: VirtualClock
    private let stop: StopSignal
    private let state = ConditionLock(State())
    private let noteTurn: @Sendable () -> Void

    /// - Parameter noteTurn: called with each turn that somebody takes, by who has the baton.
    init(clock: VirtualClock, stop: StopSignal, noteTurn: @escaping @Sendable () -> Void = {}) {
        virtualClock = clock
        self.stop = stop
        self.noteTurn = noteTurn
    }

    var clock: any MonotonicClock { virtualClock }
    var isVirtual: Bool { true }

    func spend(_ duration: Duration) { virtualClock.advance(by: duration) }

    func access() { virtualClock.advance(by: virtualClock.costs.access) }

    func sleep(_ duration: Duration) {
        let end = virtualClock.now() + max(duration, .zero)
        handOn { $0.wakesAt = end }
    }

    func goesOn() -> Bool {
        noteTurn()
        // Most often nobody else is there.
        let now = virtualClock.now()
        let isAlone = state.withLock { state in
            state.lanes.count == 1 && state.repetitions.allSatisfy { !$0.isDue(at: now) }
        }
        if !isAlone { handOn { _ in } }
        return !stop.isSet
    }

    /// Has `body` called now, and again whenever the time that it returned is over, until that is ended.
    func repeatedly(_ body: @escaping @Sendable () -> Duration) -> Repetition {
        let repetition = Repetition(due: virtualClock.now(), body)
        state.withLock { $0.repetitions.append(repetition) }
        return repetition
    }

    /// Has whatever is repeated done at once.
    func repeatNow() {
        let now = virtualClock.now()
        for repetition in state.withLock({ $0.repetitions }) { repetition.due = now }
    }

    func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
        guard count > 1 else { return body(0) }
        let children = state.withLock { state in
            Self.charge(&state, virtualClock.now())
            let parent = state.holder
            let numbers = (0..<count).map { state.nextLane + $0 }
            state.nextLane += count
            for number in numbers {
                state.lanes[number] = Lane(spent: state.lanes[parent]?.spent ?? 0, parent: parent)
            }
            state.lanes[parent]?.children = count
            return numbers
        }
        let failures = RunFailures()
        for (index, number) in children.enumerated() {
            do {
                try WorkerThread.spawn("scenario-\(index)") { [self] in
                    state.wait { $0.holder == number ? () : nil }
                    body(index)
                    end(number)
                }
            } catch {
                failures.note(error)
                abandon(number)
            }
        }
        handOn { _ in }
        try failures.rethrow()
    }

    // MARK: The baton

    /// Changes the lane that has the baton, and hands that on; returns when it is back. Whoever may run at once and has
    /// nobody beside it keeps it.
    private func handOn(_ change: (inout Lane) -> Void) {
        let lane = state.withLock { state in
            let lane = state.holder
            Self.charge(&state, virtualClock.now())
            if var mine = state.lanes[lane] {
                change(&mine)
                state.lanes[lane] = mine
            }
            return lane
        }
        choose()
        state.wait { $0.holder == lane ? () : nil }
    }

    /// A lane has come to its end, on its own thread.
    private func end(_ lane: Int) {
        state.withLock { state in
            Self.charge(&state, virtualClock.now())
            Self.remove(lane, &state)
        }
        choose()
    }

    /// A lane that never got a thread.
    private func abandon(_ lane: Int) { state.withLock { Self.remove(lane, &$0) } }

    private static func remove(_ lane: Int, _ state: inout State) {
        guard let ended = state.lanes.removeValue(forKey: lane), let parent = ended.parent else { return }
        state.lanes[parent]?.children -= 1
        // Its time is that of those who worked for it.
        let spent = state.lanes[parent]?.spent ?? 0
        state.lanes[parent]?.spent = max(spent, ended.spent)
    }

    private static func charge(_ state: inout State, _ now: MonotonicInstant) {
        state.lanes[state.holder]?.spent += (now - state.since).nanoseconds
        state.since = now
    }

    /// Does what is due, and gives the baton to whoever is next. By who has it.
    private func choose() {
        while true {
            repeatWhatIsDue()
            let now = virtualClock.now()
            let isStopped = stop.isSet
            let pause = state.withLock { state -> Duration? in
                // What was repeated took time that is nobody's.
                state.since = now
                let awake = state.lanes.filter { _, lane in
                    lane.children == 0 && (isStopped || (lane.wakesAt.map { $0 <= now } ?? true))
                }
                let next = awake.min { ($0.value.spent, $0.key) < ($1.value.spent, $1.key) }
                if let next {
                    state.lanes[next.key]?.wakesAt = nil
                    state.holder = next.key
                    return nil
                }
                let wakes = state.lanes.values.compactMap { $0.children == 0 ? $0.wakesAt : nil }
                let first = (wakes + state.repetitions.compactMap(\.due)).min()
                precondition(first != nil, "everybody waits for somebody else")
                return (first ?? now) - now
            }
            guard let pause else { return }
            virtualClock.advance(by: pause)
        }
    }

    private func repeatWhatIsDue() {
        let repetitions = state.withLock { state in
            state.repetitions.removeAll { $0.due == nil }
            return state.repetitions
        }
        for repetition in repetitions where repetition.isDue(at: virtualClock.now()) {
            // Whatever asks for it meanwhile asks for one more.
            repetition.due = MonotonicInstant(nanoseconds: .max)
            let pause = repetition.body()
            let next = virtualClock.now() + max(pause, .microseconds(1))
            repetition.due = min(next, repetition.due ?? next)
        }
    }
}
