import Synchronization

/// Being visible or hidden. Hidden controllers are the first to lose what they hold, visible ones the last.
///
/// The order of the hooks when `parent`, which has `child`, appears and disappears again:
///
/// ```
/// appear()                               disappear()
///   parent  levelDidChange  (if missed)    parent  willDisappear
///   parent  willAppear                     child   willDisappear
///   child   levelDidChange  (if missed)    parent  didDisappear
///   child   willAppear                     child   didDisappear
///   parent  didAppear
///   child   didAppear
/// ```
///
/// An interrupted transition has no `did`: `appear()` and, from inside `willAppear`, `disappear()` give `willAppear`,
/// `willDisappear`, `didDisappear`. Calls from several threads at once keep each controller's hooks in order and one at a
/// time; the last of them may then return before its hooks were called, by the thread that was first.
extension PressureController {
    /// Whether the controller is visible: from before `willAppear` until after the transition that ends with
    /// `didDisappear`. A new one is hidden.
    public var isVisible: Bool { state.withLock { $0.isVisible } }

    /// Whether ``appear()`` and ``disappear()`` include the children. `true` unless set; a pager that shows one child at
    /// a time sets it to `false` and tells its children with ``beginAppearanceTransition(isAppearing:)`` and
    /// ``endAppearanceTransition()``.
    public var forwardsAppearance: Bool {
        get { state.withLock { $0.forwardsAppearance } }
        set { state.withLock { $0.forwardsAppearance = newValue } }
    }

    /// Makes the controller visible, and with it its children if it forwards appearance.
    ///
    /// Calls `willAppear` on all that were hidden, parents before children, then `didAppear` in the same order. Children
    /// that `willAppear` adds are included. Of a controller that presents another one, the presented one appears.
    /// While the manager is in the background nothing is called; it happens when it returns to the foreground.
    /// What they hold that is not in memory begins to be restored meanwhile, unless memory is short
    /// (``PressureConfiguration/restoresAhead``).
    public func appear() { changeVisibility(to: true) }

    /// Hides the controller, and with it its children if it forwards appearance.
    ///
    /// Calls `willDisappear` on all that were visible, parents before children, then `didDisappear` in the same order.
    public func disappear() { changeVisibility(to: false) }

    /// Begins a transition by hand, as a container does that moves its children itself. ``endAppearanceTransition()``
    /// ends it.
    ///
    /// Calls `willAppear` or `willDisappear` on this controller and on those it forwards appearance to; on none that is
    /// there, or on its way there, already. The opposite transition, if it was under way, ends without its `did`.
    public func beginAppearanceTransition(isAppearing: Bool) {
        if isDeferring(isAppearing) { return }
        if isAppearing { restoreAhead() }
        var begun = AppearanceTransitions()
        beginTransition(isAppearing, into: &begun)
    }

    /// Ends the transition that was begun by hand. Does nothing when none is under way.
    ///
    /// Calls `didAppear` or `didDisappear`, on the controllers on which it began.
    public func endAppearanceTransition() {
        if isSuspended { return }
        endTransitions()
    }

    private func changeVisibility(to visible: Bool) {
        if isDeferring(visible) { return }
        if visible { restoreAhead() }
        var begun = AppearanceTransitions()
        beginTransition(visible, into: &begun)
        begun.end()
    }

    // MARK: Steps

    /// Begins a transition here and below, parents before children, as far as appearance is forwarded.
    func beginTransition(_ isAppearing: Bool, into begun: inout AppearanceTransitions) {
        // What is covered stays hidden; what covers it is what is seen.
        if let presented { return presented.beginTransition(isAppearing, into: &begun) }
        guard beginOne(isAppearing, into: &begun) else { return }
        // Only now: the hook may have added and removed some.
        let (forwards, children) = state.withLock { ($0.forwardsAppearance, $0.children) }
        guard forwards else { return }
        for child in children where child.parent === self { child.beginTransition(isAppearing, into: &begun) }
    }

    /// Begins a transition of this controller alone. Returns whether those below it are to follow: not if the hook has
    /// changed its mind, and told them itself.
    @discardableResult
    func beginOne(_ isAppearing: Bool, into begun: inout AppearanceTransitions) -> Bool {
        let missed = isAppearing ? context?.scene.newestCause : nil
        let transition = state.withLock { state -> Appearance.Transition? in
            guard let transition = state.appearance.begin(isAppearing: isAppearing) else { return nil }
            if let missed { state.tellLevel(missed) }
            state.hooks.add(isAppearing ? .willAppear : .willDisappear)
            return transition
        }
        guard let transition else { return true }
        begun.list.append((self, transition))
        callAppearanceHooks()
        return state.withLock { $0.appearance.isUnderWay(transition) }
    }

    private func endTransitions() {
        if let presented { return presented.endTransitions() }
        end { $0.end() }
        let (forwards, children) = state.withLock { ($0.forwardsAppearance, $0.children) }
        guard forwards else { return }
        for child in children where child.parent === self { child.endTransitions() }
    }

    /// Ends a transition if `step` says that one was under way.
    fileprivate func end(_ step: (inout Appearance) -> Bool?) {
        state.withLock { state in
            guard let appeared = step(&state.appearance) else { return }
            state.hooks.add(appeared ? .didAppear : .didDisappear)
        }
        callAppearanceHooks()
    }
}

/// Transitions of several controllers that began together.
struct AppearanceTransitions {
    var list: [(controller: PressureController, transition: Appearance.Transition)] = []

    /// Ends those that were not interrupted, in the order in which they began.
    func end() {
        for (controller, transition) in list { controller.end { $0.end(transition) } }
    }
}
