import Synchronization

/// Parents and children.
extension PressureController {
    /// The controller this one is a child of.
    public var parent: PressureController? { state.withLock { $0.parent } }

    /// The children, in the order they were added.
    public var children: [PressureController] { state.withLock { $0.children } }

    /// Makes `child` the last child of this controller.
    ///
    /// Calls `child`'s `willMove(toParent:)` before and `didMove(toParent:)` after. A child that is visible stays so.
    ///
    /// - Throws: ``PressureError`` with `hierarchyInconsistency` when `child` has a parent, is a manager's root, or is
    ///   this controller or one of its ancestors; `duplicateIdentifier` when a sibling has its identifier;
    ///   `invalidConfiguration` when its identifier is empty or has a slash in it. Nothing has changed then.
    public func addChild(_ child: PressureController) throws(PressureError) {
        try Self.hierarchy.withLock { _ throws(PressureError) in try checkAdding(child) }
        child.delegate?.willMove(toParent: self)
        try Self.hierarchy.withLock { _ throws(PressureError) in
            // The hook may have moved either of them.
            try checkAdding(child)
            child.state.withLock { $0.parent = self }
            state.withLock { $0.children.append(child) }
        }
        if let context { child.adoptEntries(by: context) }
        child.delegate?.didMove(toParent: self)
    }

    /// Takes this controller, with its children and caches, out of its parent. Does nothing for one without a parent.
    ///
    /// Calls `willMove(toParent: nil)` before and `didMove(toParent: nil)` after. Caches that are in use stay in use, and
    /// spilled ones can still be restored.
    public func removeFromParent() {
        guard parent != nil else { return }
        delegate?.willMove(toParent: nil)
        // Returned out of the lock: this may be the last reference to the parent and all its caches.
        let parent = Self.hierarchy.withLock { _ in
            let parent = state.withLock { state in
                defer { state.parent = nil }
                return state.parent
            }
            parent?.state.withLock { state in state.children.removeAll { $0 === self } }
            return parent
        }
        if parent != nil { delegate?.didMove(toParent: nil) }
    }

    private func checkAdding(_ child: PressureController) throws(PressureError) {
        guard child.state.withLock({ $0.context }) == nil else {
            throw .hierarchyInconsistency("A manager's root cannot be a child. Add its children instead.", path: path)
        }
        guard !child.identifier.isEmpty, !child.identifier.contains("/") else {
            throw .invalidIdentifier(child.identifier)
        }
        if let parent = child.parent {
            throw .hierarchyInconsistency(
                "\"\(child.identifier)\" has the parent \"\(parent.path)\" already. Remove it from there first.",
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
            ancestor = next.parent
        }
        if children.contains(where: { $0.identifier == child.identifier }) {
            throw PressureError(
                code: .duplicateIdentifier,
                message: "A child \"\(child.identifier)\" exists already. Identifiers are unique among siblings.",
                path: path
            )
        }
    }

    /// Has the manager make room for the caches of this controller and all below it.
    private func adoptEntries(by context: ManagerContext) {
        let (entries, children) = state.withLock { ($0.entries, $0.children) }
        for entry in entries { context.adopt(entry) }
        for child in children { child.adoptEntries(by: context) }
    }
}
