import PressureSystem
import Synchronization

/// Which thread calls hooks now, and which hook it is in: what a reclaim looks at that has waited long enough.
final class ListenerBoard: Sendable {
    /// A hook that is being called.
    struct Call: Sendable {
        /// Whose; `nil` for the manager's delegate.
        var controller: PressureController?
        var hook: String
        var since: MonotonicInstant
    }

    private struct State {
        /// The number of the thread that calls hooks.
        var inCharge = 0
        var call: Call?
        /// Whether the manager's delegate is still in a hook that was given up.
        var isManagerLate = false
    }

    private let state = Lock(State())
    private let clock: any MonotonicClock

    init(clock: any MonotonicClock) { self.clock = clock }

    /// Whether a thread calls hooks; otherwise it is to end.
    func isInCharge(_ number: Int) -> Bool { state.withLock { $0.inCharge == number } }

    /// Calls a hook, unless its delegate is still in one that was given up. With nothing locked. Returns whether the
    /// thread goes on; if not, another one has taken over meanwhile.
    func call(_ controller: PressureController?, _ hook: String, by number: Int, _ body: () -> Void) -> Bool {
        let begins = state.withLock { state -> Bool? in
            guard state.inCharge == number else { return nil }
            guard !(controller?.isLate ?? state.isManagerLate) else { return false }
            state.call = Call(controller: controller, hook: hook, since: clock.now())
            return true
        }
        guard let begins else { return false }
        guard begins else { return true }
        body()
        return state.withLock { state in
            guard state.inCharge == number else {
                if let controller { controller.isLate = false } else { state.isManagerLate = false }
                return false
            }
            state.call = nil
            return true
        }
    }

    /// Whether the thread in charge has been in one hook for `time` or longer.
    func isInHook(for time: Duration) -> Bool {
        state.withLock { state in state.call.map { clock.now() - $0.since >= time } ?? false }
    }

    /// Takes charge away from the thread that has been in one hook for `time` or longer: the hook, and the number of
    /// the thread that is to take over. `nil` when it is in none, or has not been for so long.
    func depose(inHookFor time: Duration) -> (call: Call, next: Int)? {
        state.withLock { state in
            guard let call = state.call, clock.now() - call.since >= time else { return nil }
            if let controller = call.controller { controller.isLate = true } else { state.isManagerLate = true }
            state.call = nil
            state.inCharge += 1
            return (call, state.inCharge)
        }
    }

    /// Gives charge back to the thread it was taken from: there was no other one.
    func reinstate(_ call: Call) {
        state.withLock { state in
            state.inCharge -= 1
            state.call = call
            if let controller = call.controller { controller.isLate = false } else { state.isManagerLate = false }
        }
    }
}

extension PressureController {
    /// Whether the delegate is still in a hook that was given up.
    fileprivate(set) var isLate: Bool {
        get { state.withLock { $0.isLate } }
        set { state.withLock { $0.isLate = newValue } }
    }
}
