import PressureSignals

/// What a listener is to tell, in order. Bounded, and with its memory reserved: telling is a part of freeing. Pure.
struct ListenerQueue {
    /// One thing to tell.
    enum Item {
        /// Something to call, once.
        case call(@Sendable () -> Void)
        /// The manager's delegate is told first.
        case managerWarning(any PressureManagerDelegate, MemoryWarning)
        /// All controllers below a root are told, each once in a round.
        case tree(root: PressureController, Telling, round: UInt64)
        /// A value is leaving, or has left.
        case eviction(EvictionHook, PressureResource, PressureController)
        /// What could not be written looks for somebody to handle it.
        case failures(EvictionReport)

        /// Whether the thread that takes over from one that hangs is to begin this again. Controllers that were told are
        /// not told again.
        var isResumable: Bool {
            if case .tree = self { true } else { false }
        }
    }

    /// What all controllers are told.
    enum Telling {
        case warning(MemoryWarning)
        case level
        case negotiation(PressureCause)
        case underWay(PressureCause)
        case ended(EvictionReport)
    }

    private static let capacity = 64

    private var ring: [Item?] = Array(repeating: nil, count: capacity)
    private var first = 0
    private(set) var count = 0
    /// Whether somebody has begun to tell the first one.
    private var isBegun = false
    var isStopped = false

    /// Adds an item; `false` when there is no room.
    mutating func push(_ item: Item) -> Bool {
        guard count < Self.capacity else { return false }
        ring[(first + count) % Self.capacity] = item
        count += 1
        return true
    }

    /// The next item for a thread that has just begun, or has finished the one before.
    mutating func begin() -> Item? {
        // Somebody has begun it and was given up.
        if isBegun, !(ring[first]?.isResumable ?? false) { pop() }
        guard count > 0 else { return nil }
        isBegun = true
        return ring[first]
    }

    /// What the first item was, which is told; its place is kept until ``pop()``.
    mutating func takeTold() -> Item? { ring[first].take() }

    /// The first item is told.
    mutating func pop() {
        guard count > 0 else { return }
        ring[first] = nil
        first = (first + 1) % Self.capacity
        count -= 1
        isBegun = false
    }
}

/// The hooks for one value that leaves.
enum EvictionHook: Sendable {
    case willEvict, didEvict

    /// Calls it on a delegate.
    func call(_ delegate: any PressureControllerDelegate, _ resource: PressureResource) {
        switch self {
        case .willEvict: delegate.resourceWillEvict(resource)
        case .didEvict: delegate.resourceDidEvict(resource)
        }
    }

    /// As it is spelled in Swift.
    var name: String {
        switch self {
        case .willEvict: "resourceWillEvict"
        case .didEvict: "resourceDidEvict"
        }
    }
}
