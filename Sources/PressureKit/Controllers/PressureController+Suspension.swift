import Synchronization

/// Appearing and disappearing while the manager is in the background: nobody is told. What it comes to is noted on each
/// controller, and happens when the manager returns to the foreground.
extension PressureController {
    /// Whether the manager is in the background.
    var isSuspended: Bool { context?.scene.isSuspended ?? false }

    /// Notes what is wanted if the manager is in the background: whether it is.
    func isDeferring(_ isAppearing: Bool) -> Bool {
        guard isSuspended else { return false }
        deferVisibility(isAppearing)
        return true
    }

    private func deferVisibility(_ isAppearing: Bool) {
        if let presented { return presented.deferVisibility(isAppearing) }
        let (forwards, children) = state.withLock { state in
            state.wantsVisible = isAppearing
            return (state.forwardsAppearance, state.children)
        }
        guard forwards else { return }
        for child in children { child.deferVisibility(isAppearing) }
    }

    /// Carries out what was noted: first all that disappear, then all that appear, each parents before children.
    func resumeAppearance() {
        for isAppearing in [false, true] {
            var changing: [PressureController] = []
            takeDeferred(isAppearing, into: &changing)
            var begun = AppearanceTransitions()
            for controller in changing {
                // One that was on its way there when it was suspended has only to arrive.
                if let underWay = controller.state.withLock({ $0.appearance.underWay(isAppearing: isAppearing) }) {
                    begun.list.append((controller, underWay))
                } else {
                    controller.beginOne(isAppearing, into: &begun)
                }
            }
            begun.end()
        }
    }

    private func takeDeferred(_ isAppearing: Bool, into found: inout [PressureController]) {
        let (wants, children, presented) = state.withLock { state in
            let wants = state.wantsVisible == isAppearing
            if wants { state.wantsVisible = nil }
            return (wants, state.children, state.presented)
        }
        if wants { found.append(self) }
        for child in children { child.takeDeferred(isAppearing, into: &found) }
        presented?.takeDeferred(isAppearing, into: &found)
    }
}
