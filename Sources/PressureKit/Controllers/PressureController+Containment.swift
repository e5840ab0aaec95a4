import PressureSystem
import Synchronization

/// Parents and children.
///
/// ```
/// parent.addChild(child)           child.removeFromParent()        child.move(to: other)
///   willMove(toParent: parent)       willMove(toParent: nil)         willMove(toParent: other)
///   — child is in parent.children    — child is in no tree           — child is in other.children
///   didMove(toParent: parent)        didMove(toParent: nil)          didMove(toParent: other)
/// ```
///
/// Only the child is told; what is below it moves along. Moving does not change what is visible: a child that is
/// visible stays so, and one that is added to a visible parent appears when somebody says ``appear()``.
extension PressureController {
    /// The controller this one is a child of.
    public var parent: PressureController? { state.withLock { $0.parent } }

    /// The children, in the order they were added.
    public var children: [PressureController] {
        let children = state.withLock { $0.children }
        return Array(children)
    }

    /// The child with an identifier.
    func child(_ identifier: String) -> PressureController? { state.withLock { $0.children.find(identifier) } }

    /// Makes `child` the last child of this controller.
    ///
    /// Calls `child`'s `willMove(toParent:)` before and `didMove(toParent:)` after. A child that is visible stays so.
    ///
    /// - Throws: ``PressureError`` with `hierarchyInconsistency` when `child` has a parent or is presented, is a
    ///   manager's root, or is this controller or one of its ancestors; `duplicateIdentifier` when a sibling has its
    ///   identifier; `invalidConfiguration` when its identifier is empty or has a slash in it, or when a cache below it
    ///   could not leave memory in any way that this controller's tree supports. Nothing has changed then.
    public func addChild(_ child: PressureController) throws(PressureError) {
        try Self.hierarchy.withLock { _ throws(PressureError) in try checkAdding(child) }
        try child.agree(toJoin: self)
        child.delegate?.willMove(toParent: self)
        try Self.hierarchy.withLock { _ throws(PressureError) in
            // The hook may have moved either of them.
            try checkAdding(child)
            child.state.withLock { $0.parent = self }
            state.withLock { _ = $0.children.append(child) }
            child.openLinks()
        }
        child.didJoin(context)
        child.delegate?.didMove(toParent: self)
    }

    /// Takes this controller, with its children and caches, out of its parent. Does nothing for one without a parent.
    ///
    /// Calls `willMove(toParent: nil)` before and `didMove(toParent: nil)` after. Caches that are in use stay in use, and
    /// spilled ones can still be restored. It may be used on, and added again, there or elsewhere.
    public func removeFromParent() {
        guard parent != nil else { return }
        delegate?.willMove(toParent: nil)
        // Returned out of the lock: this may be the last reference to the parent and all its caches.
        let parent = Self.hierarchy.withLock { _ in leaveParent() }
        if parent != nil { delegate?.didMove(toParent: nil) }
    }

    /// Moves this controller, with all below it, from its parent, if it has one, to another one, in one step: no reclaim
    /// sees it in neither or in both.
    ///
    /// Calls `willMove(toParent:)` before and `didMove(toParent:)` after, with the new parent. Values in use stay so.
    ///
    /// - Throws: as ``addChild(_:)``, having a parent aside. Nothing has changed then.
    public func move(to newParent: PressureController) throws(PressureError) {
        guard parent !== newParent else { return }
        try Self.hierarchy.withLock { _ throws(PressureError) in try newParent.checkAdding(self, hasParent: true) }
        try agree(toJoin: newParent)
        delegate?.willMove(toParent: newParent)
        let oldParent = try Self.hierarchy.withLock { _ throws(PressureError) in
            try newParent.checkAdding(self, hasParent: true)
            let oldParent = leaveParent()
            state.withLock { $0.parent = newParent }
            newParent.state.withLock { _ = $0.children.append(self) }
            openLinks()
            return oldParent
        }
        didJoin(newParent.context)
        delegate?.didMove(toParent: newParent)
        withExtendedLifetime(oldParent) {}
    }

    /// Agrees on dispositions with the manager that this controller is about to join, if it joins one.
    func agree(toJoin superior: PressureController) throws(PressureError) {
        if let context = superior.context { try agreeBelow(manager: context.scene.dispositions) }
    }

    // MARK: Links

    /// The controller that this one is below: its parent, or the one that presents it.
    var superior: PressureController? { state.withLock { $0.parent ?? $0.presenter } }

    /// Under ``hierarchy``.
    private func leaveParent() -> PressureController? {
        let parent = state.withLock { state in
            defer { state.parent = nil }
            return state.parent
        }
        parent?.state.withLock { _ = $0.children.remove(self) }
        closeLinks()
        return parent
    }

    /// Whether `controller` may be put below this one. Under ``hierarchy``.
    func checkAdding(_ child: PressureController, hasParent: Bool = false) throws(PressureError) {
        guard child.state.withLock({ $0.context }) == nil else {
            throw .hierarchyInconsistency("A manager's root cannot be a child. Add its children instead.", path: path)
        }
        guard !child.identifier.isEmpty, !child.identifier.contains("/") else {
            throw .invalidIdentifier(child.identifier)
        }
        if let parent = child.parent, !hasParent {
            throw .hierarchyInconsistency(
                "\"\(child.identifier)\" has the parent \"\(parent.path)\" already. Remove it from there first.",
                path: child.path
            )
        }
        if let presenter = child.presenter {
            throw .hierarchyInconsistency(
                "\"\(child.identifier)\" is presented by \"\(presenter.path)\". Dismiss it there first.",
                path: child.path
            )
        }
        var ancestor: PressureController? = self
        while let next = ancestor {
            guard next !== child else {
                throw .hierarchyInconsistency(
                    "\"\(child.identifier)\" cannot be its own ancestor. Remove the ancestor from its parent first.",
                    path: path
                )
            }
            ancestor = next.superior
        }
        let (sibling, presented) = state.withLock { ($0.children.find(child.identifier), $0.presented) }
        if sibling != nil && sibling !== child || presented?.identifier == child.identifier {
            throw PressureError(
                code: .duplicateIdentifier,
                message: "A child \"\(child.identifier)\" exists already. Identifiers are unique among siblings.",
                path: path
            )
        }
    }

    /// Has the manager make room for the caches of this controller and all below it.
    func didJoin(_ context: ManagerContext?) {
        guard let context else { return }
        let (entries, children, presented) = state.withLock { ($0.entries, $0.children, $0.presented) }
        for entry in entries { context.adopt(entry) }
        for child in children { child.didJoin(context) }
        presented?.didJoin(context)
    }
}
