import PressureSystem
import Synchronization

/// Covering a controller with another one. What is covered is hidden.
///
/// ```
/// presenter.present(sheet)             presenter.dismiss()  or  sheet.dismiss()
///   presenter  willDisappear             sheet      willDisappear
///   sheet      willAppear                presenter  willAppear
///   sheet      didAppear                 presenter  didAppear
///   presenter  didDisappear              sheet      didDisappear
/// ```
///
/// With the presenter go the children that it forwards appearance to. The presented controller takes the presenter's
/// place: it is seen if the presenter was, and while it covers the presenter, ``appear()`` and ``disappear()`` of the
/// presenter mean it. It has a place in the tree, below the presenter, so that warnings reach it, but is no child.
extension PressureController {
    /// The controller that covers this one.
    public var presented: PressureController? { state.withLock { $0.presented } }

    /// The controller that this one covers.
    public var presenter: PressureController? { state.withLock { $0.presenter } }

    /// Covers this controller with `controller`, which appears if this one was visible.
    ///
    /// To cover a controller that is covered already, let the topmost one present.
    ///
    /// - Throws: ``PressureError`` with `hierarchyInconsistency` when this controller presents one already, or when
    ///   `controller` has a parent or presenter or is this one or above it; `duplicateIdentifier` and
    ///   `invalidConfiguration` as ``addChild(_:)``. Nothing has changed then.
    public func present(_ controller: PressureController) throws(PressureError) {
        try Self.hierarchy.withLock { _ throws(PressureError) in try checkPresenting(controller) }
        try controller.agree(toJoin: self)
        let wasSeen = state.withLock { $0.wantsVisible ?? $0.appearance.isAppearing }
        let isSuspended = isSuspended
        var leaving = AppearanceTransitions()
        if isSuspended { _ = isDeferring(false) } else { beginTransition(false, into: &leaving) }
        do throws(PressureError) {
            try Self.hierarchy.withLock { _ throws(PressureError) in
                // The hooks may have moved either of them.
                try checkPresenting(controller)
                controller.state.withLock { $0.presenter = self }
                state.withLock { $0.presented = controller }
                controller.openLinks()
            }
        } catch {
            // What was about to disappear comes back.
            if wasSeen { appear() }
            throw error
        }
        controller.didJoin(context)
        if wasSeen { controller.appear() }
        leaving.end()
    }

    /// Uncovers this controller: it takes back the place of the one it presents, and of all that those present. On a
    /// controller that presents none, but is presented, the same as on its presenter. Else does nothing.
    public func dismiss() {
        guard let presented else {
            presenter?.dismiss()
            return
        }
        var top = presented
        while let next = top.presented { top = next }
        let wasSeen = top.state.withLock { $0.wantsVisible ?? $0.appearance.isAppearing }
        let isSuspended = isSuspended
        var leaving = AppearanceTransitions()
        if isSuspended {
            top.state.withLock { $0.wantsVisible = nil }
        } else {
            top.beginTransition(false, into: &leaving)
        }
        let isCut = Self.hierarchy.withLock { _ in
            guard self.presented === presented else { return false }
            state.withLock { $0.presented = nil }
            presented.state.withLock { $0.presenter = nil }
            presented.closeLinks()
            return true
        }
        if wasSeen, isCut { appear() }
        leaving.end()
        if isSuspended { top.hideSilently() }
    }

    private func checkPresenting(_ controller: PressureController) throws(PressureError) {
        if let presented {
            throw .hierarchyInconsistency(
                "\"\(path)\" presents \"\(presented.identifier)\" already. Dismiss that, or let it present.",
                path: path
            )
        }
        try checkAdding(controller)
    }

    /// One that leaves the tree while the manager is in the background: nobody is told.
    private func hideSilently() {
        let children = state.withLock { state in
            _ = state.appearance.begin(isAppearing: false)
            _ = state.appearance.end()
            return state.children
        }
        for child in children { child.hideSilently() }
    }
}
