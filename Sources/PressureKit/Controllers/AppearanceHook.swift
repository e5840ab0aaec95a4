import PressureSignals
import Synchronization

/// What a controller is told about being seen, in the order in which it happened.
enum AppearanceHook: Sendable {
    case levelDidChange(PressureCause)
    case willAppear, didAppear, willDisappear, didDisappear

    /// Calls it on a delegate.
    func call(_ delegate: any PressureControllerDelegate) {
        switch self {
        case .levelDidChange(let cause): delegate.levelDidChange(cause)
        case .willAppear: delegate.willAppear()
        case .didAppear: delegate.didAppear()
        case .willDisappear: delegate.willDisappear()
        case .didDisappear: delegate.didDisappear()
        }
    }
}

/// The hooks of one controller that are due. They are called one at a time and in order, whichever threads they come
/// from, and nobody waits for them with anything held: a thread that finds another one calling leaves its own behind.
struct AppearanceHooks: Sendable {
    private var due: [AppearanceHook] = []
    /// The thread that calls them; 0 when none does.
    private var caller: UInt32 = 0
    /// How many calls of that thread are within each other.
    private var depth = 0

    /// Adds one. Under the lock under which it came to be.
    mutating func add(_ hook: AppearanceHook) { due.append(hook) }

    /// This thread begins to call, unless another one does.
    fileprivate mutating func enter() -> Bool {
        guard caller == 0 || caller == .currentThread else { return false }
        caller = .currentThread
        depth += 1
        return true
    }

    /// The next one; `nil` when there is none, and this thread has ended to call.
    fileprivate mutating func next() -> AppearanceHook? {
        if !due.isEmpty { return due.removeFirst() }
        depth -= 1
        if depth == 0 { caller = 0 }
        return nil
    }
}

extension PressureController {
    /// Calls what is due. With nothing locked.
    func callAppearanceHooks() {
        guard state.withLock({ $0.hooks.enter() }) else { return }
        while let (hook, delegate) = state.withLock({ state in state.hooks.next().map { ($0, state.delegate) } }) {
            if let delegate { hook.call(delegate) }
        }
    }
}
