import PressureSignals
import Synchronization

/// Changes of the level, which a controller is told of while it is visible. What it missed while it was hidden it learns
/// when it next appears, once and as it is then: as a view that was not on the screen learns of a rotation.
extension PressureController {
    /// Tells this controller, and all below it, if they are visible. With nothing locked; parents before children.
    /// Returns whether the thread goes on.
    func tellLevel(_ cause: PressureCause, by caller: HookCaller) -> Bool {
        let (isVisible, children, presented) = state.withLock { state in
            let isVisible = state.isVisible && state.presented == nil
            if isVisible { state.tellLevel(cause) }
            return (isVisible, state.children, state.presented)
        }
        if isVisible, !caller.call(self, "levelDidChange", callAppearanceHooks) { return false }
        if let presented { return presented.tellLevel(cause, by: caller) }
        for child in children {
            guard child.tellLevel(cause, by: caller) else { return false }
        }
        return true
    }
}

extension PressureController.State {
    /// Makes the hook due, unless the controller knows that level already.
    mutating func tellLevel(_ cause: PressureCause) {
        guard cause.levelAfter != reportedLevel else { return }
        reportedLevel = cause.levelAfter
        hooks.add(.levelDidChange(cause))
    }
}
