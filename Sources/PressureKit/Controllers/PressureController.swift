import PressureSignals
import PressureSystem
import Synchronization

/// A node of the tree of things that hold memory: it has caches, children, and an app object as its delegate.
///
/// Composition, not inheritance: an app object *has* a controller.
///
/// ```swift
/// let gallery = PressureController("gallery")
/// try manager.root.addChild(gallery)
/// let thumbnails = try gallery.cache("thumbnails") { try renderThumbnails() }
/// ```
///
/// A parent keeps its children, and a controller keeps its caches. Caches of a controller that is in no manager's tree
/// load and restore, but no warning reaches them. All methods may be called on any thread and from any hook.
public final class PressureController: Sendable {
    /// What one controller is. Links between controllers change only under ``hierarchy``.
    struct State {
        weak var parent: PressureController?
        weak var delegate: (any PressureControllerDelegate)?
        var children = NamedList<PressureController>()
        var entries = NamedList<CacheEntry>()
        /// What covers this one, which it keeps, and what it covers.
        var presented: PressureController?
        weak var presenter: PressureController?
        var appearance = Appearance()
        var hooks = AppearanceHooks()
        var forwardsAppearance = true
        /// What it comes to that was asked for while the manager was in the background.
        var wantsVisible: Bool?
        /// The level that the delegate knows.
        var reportedLevel = PressureLevel.normal
        /// The last round of telling that has come here.
        var reportedRound: UInt64 = 0
        /// Whether the delegate was told that a reclaim may take something.
        var takesPart = false
        /// The most bytes of this subtree in memory.
        var budget: ByteCount?
        /// How many bytes may come before they are counted again.
        var budgetSlack = 0
        var isKeepingBudget = false
        /// Whether a saved state includes this controller.
        var isRestorable = true
        /// What was saved of caches that have not been registered yet, by name.
        var saved: [String: SavedCache] = [:]
        /// Whether the delegate is still in a hook that a reclaim gave up.
        var isLate = false
        /// Set at a manager's root only.
        var context: ManagerContext?

        var isVisible: Bool { appearance.isVisible }
        /// Visible and not covered.
        var isSeen: Bool { isVisible && presented == nil }
        /// Children, and what covers this one.
        var below: [PressureController] { Array(children) + (presented.map { [$0] } ?? []) }
    }

    /// Held while links of several controllers change or a whole tree is read, so that it is seen in one piece.
    /// Before any controller's own lock; no hook is called with it. One for all trees, since two may become one: with a
    /// lock for each, both would be needed then, in an order that the joining itself changes.
    static let hierarchy = Lock<Void>(())

    /// The restoration identifier: unique among siblings, not empty, without a slash.
    public let identifier: String

    /// What may become of the values of its caches, as far as the caches and the manager support it.
    public let supportedDispositions: Disposition

    let state = Lock(State())
    let link = LoadServicesLink()
    /// Whether there has ever been a delegate, so that those without one are not locked to look for it.
    private let mayHaveDelegate = Atomic<Bool>(false)

    /// Creates a controller in no tree.
    ///
    /// - Parameters:
    ///   - identifier: its part of paths.
    ///   - supportedDispositions: what may become of the values of its caches when memory is short.
    public init(_ identifier: String, supportedDispositions: Disposition = .all) {
        self.identifier = identifier
        self.supportedDispositions = supportedDispositions
    }

    /// Creates a manager's root.
    init(rootOf context: ManagerContext) {
        identifier = ""
        supportedDispositions = .all
        state.withLock { $0.context = context }
        link.open(to: context.services)
    }

    deinit {
        // By their own locks: whoever lets go of the last reference may hold `hierarchy`. One that has another superior
        // by now is left alone, or was open to nothing.
        for controller in state.withLock(\.below) where controller.superior == nil { controller.closeLinks() }
    }

    /// The app object that is told what happens; not retained.
    public var delegate: (any PressureControllerDelegate)? {
        get { mayHaveDelegate.load(ordering: .acquiring) ? state.withLock { $0.delegate } : nil }
        set {
            state.withLock { $0.delegate = newValue }
            if newValue != nil { mayHaveDelegate.store(true, ordering: .releasing) }
        }
    }

    /// Where the controller is: the identifiers from below the root, joined by slashes. Empty for a root.
    public var path: String {
        var names: [String] = []
        var next: PressureController? = self
        while let controller = next {
            if !controller.identifier.isEmpty { names.append(controller.identifier) }
            next = controller.superior
        }
        return names.reversed().joined(separator: "/")
    }

    /// The manager whose tree this is in.
    var context: ManagerContext? {
        var controller = self
        while let superior = controller.superior { controller = superior }
        return controller.state.withLock { $0.context }
    }
}
