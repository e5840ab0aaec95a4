import Synchronization

/// Being visible or hidden. Hidden controllers are the first to lose what they hold, visible ones the last.
extension PressureController {
    /// Whether the controller is visible. A new one is hidden.
    public var isVisible: Bool { state.withLock { $0.isVisible } }

    /// Whether ``appear()`` and ``disappear()`` include the children. `true` unless set; a pager that shows one child at
    /// a time sets it to `false`.
    public var forwardsAppearance: Bool {
        get { state.withLock { $0.forwardsAppearance } }
        set { state.withLock { $0.forwardsAppearance = newValue } }
    }

    /// Makes the controller visible, and with it its children if it forwards appearance.
    ///
    /// Calls `willAppear` on all that were hidden, parents before children, then `didAppear` in the same order.
    public func appear() { changeVisibility(to: true) }

    /// Hides the controller, and with it its children if it forwards appearance.
    ///
    /// Calls `willDisappear` on all that were visible, parents before children, then `didDisappear` in the same order.
    public func disappear() { changeVisibility(to: false) }

    private func changeVisibility(to visible: Bool) {
        var changing: [PressureController] = []
        collect(visible: !visible, into: &changing)
        for controller in changing {
            if visible { controller.delegate?.willAppear() } else { controller.delegate?.willDisappear() }
        }
        for controller in changing {
            let changed = controller.state.withLock { state in
                defer { state.isVisible = visible }
                return state.isVisible != visible
            }
            guard changed else { continue }
            if visible { controller.delegate?.didAppear() } else { controller.delegate?.didDisappear() }
        }
    }

    private func collect(visible: Bool, into found: inout [PressureController]) {
        let (isVisible, forwards, children) = state.withLock { ($0.isVisible, $0.forwardsAppearance, $0.children) }
        if isVisible == visible { found.append(self) }
        guard forwards else { return }
        for child in children { child.collect(visible: visible, into: &found) }
    }
}
