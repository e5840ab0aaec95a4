/// The free extents of a file, in the order of their addresses: a treap (Seidel and Aragon, "Randomized Search Trees",
/// 1996) whose nodes also know the longest extent below them, so that the lowest fit, a neighbour, or the next extent
/// to punch is found in O(log n) expected steps.
///
/// Nodes live in one array that only `reserve` and running out of nodes make longer.
struct FreeExtents: Sendable {
    /// A free extent, and whether the file may still hold blocks for it.
    struct Entry: Hashable, Sendable {
        var extent: Extent
        var holdsBlocks: Bool
    }

    private struct Node: Sendable {
        var entry: Entry
        var priority: UInt32
        var left: Index = 0
        var right: Index = 0
        /// The longest extent in this subtree.
        var longest: UInt32 = 0
        /// The longest of those that hold blocks.
        var longestHolding: UInt32 = 0
    }

    /// A position in `nodes`; 0 is the empty tree, a node of length 0 that is never changed.
    private typealias Index = Int

    private var nodes: [Node]
    private var root: Index = 0
    /// Nodes not in use, chained through `left`.
    private var spare: Index = 0
    private var seed: UInt32 = 0x9E37_79B9

    /// No free extents, with room for `capacity`.
    init(capacity: Int) {
        let nothing = Entry(extent: Extent(start: 0, count: 0), holdsBlocks: false)
        nodes = [Node(entry: nothing, priority: 0)]
        reserve(capacity)
    }

    /// Makes room for `capacity` extents in all. Allocates when that is more than before.
    mutating func reserve(_ capacity: Int) { nodes.reserveCapacity(capacity + 1) }

    /// The last extent that begins before `unit`.
    func last(before unit: UInt32) -> Entry? {
        var found: Entry?
        var index = root
        while index != 0 {
            let entry = nodes[index].entry
            if entry.extent.start < unit {
                found = entry
                index = nodes[index].right
            } else {
                index = nodes[index].left
            }
        }
        return found
    }

    /// Adds an extent that neither overlaps nor touches another.
    mutating func insert(_ entry: Entry) {
        let index = makeNode(entry)
        root = inserting(index, into: root)
    }

    /// Removes and returns the extent that begins at `unit`.
    mutating func remove(startingAt unit: UInt32) -> Entry? {
        let (rest, entry) = removing(unit, from: root)
        root = rest
        return entry
    }

    /// Cuts `count` units from the front of the lowest extent that has them.
    mutating func takeLowest(_ count: UInt32) -> Entry? {
        guard nodes[root].longest >= count else { return nil }
        let (rest, entry) = cutting(count, from: root)
        root = rest
        return entry
    }

    /// Removes and returns the lowest extent at or above `unit` that holds blocks and has `minimum` units or more.
    mutating func takeHolding(from unit: UInt32, minimum: UInt32) -> Extent? {
        let (rest, extent) = takingHolding(from: unit, minimum: minimum, in: root)
        root = rest
        return extent
    }

    /// Calls `body` with every extent, lowest first.
    func forEach(_ body: (Entry) -> Void) { visit(root, body) }

    /// Whether order, heap and the summaries agree in every node. For tests.
    var isConsistent: Bool { isConsistent(root, above: 0, below: .max, priority: .max) }
}

extension FreeExtents {
    private mutating func makeNode(_ entry: Entry) -> Index {
        // Marsaglia's 32-bit xorshift: random enough to keep the treap balanced, the same in every run.
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        let node = Node(entry: entry, priority: seed)
        var index = spare
        if index == 0 {
            index = nodes.count
            nodes.append(node)
        } else {
            spare = nodes[index].left
            nodes[index] = node
        }
        refresh(index)
        return index
    }

    private mutating func recycle(_ index: Index) {
        nodes[index].left = spare
        spare = index
    }

    /// The summaries of a node, from its own extent and its children's.
    private func summary(_ index: Index) -> (longest: UInt32, longestHolding: UInt32) {
        let node = nodes[index]
        let left = nodes[node.left]
        let right = nodes[node.right]
        let own = node.entry.extent.count
        return (
            max(own, left.longest, right.longest),
            max(node.entry.holdsBlocks ? own : 0, left.longestHolding, right.longestHolding)
        )
    }

    private mutating func refresh(_ index: Index) {
        (nodes[index].longest, nodes[index].longestHolding) = summary(index)
    }

    private mutating func inserting(_ new: Index, into index: Index) -> Index {
        guard index != 0, nodes[index].priority >= nodes[new].priority else {
            let (left, right) = split(index, at: nodes[new].entry.extent.start)
            nodes[new].left = left
            nodes[new].right = right
            refresh(new)
            return new
        }
        if nodes[new].entry.extent.start < nodes[index].entry.extent.start {
            let child = inserting(new, into: nodes[index].left)
            nodes[index].left = child
        } else {
            let child = inserting(new, into: nodes[index].right)
            nodes[index].right = child
        }
        refresh(index)
        return index
    }

    /// Splits a subtree into what begins before `unit` and the rest.
    private mutating func split(_ index: Index, at unit: UInt32) -> (Index, Index) {
        guard index != 0 else { return (0, 0) }
        if nodes[index].entry.extent.start < unit {
            let (low, high) = split(nodes[index].right, at: unit)
            nodes[index].right = low
            refresh(index)
            return (index, high)
        } else {
            let (low, high) = split(nodes[index].left, at: unit)
            nodes[index].left = high
            refresh(index)
            return (low, index)
        }
    }

    /// Joins two subtrees of which every extent of the first begins before any of the second.
    private mutating func join(_ low: Index, _ high: Index) -> Index {
        if low == 0 { return high }
        if high == 0 { return low }
        if nodes[low].priority >= nodes[high].priority {
            let child = join(nodes[low].right, high)
            nodes[low].right = child
            refresh(low)
            return low
        } else {
            let child = join(low, nodes[high].left)
            nodes[high].left = child
            refresh(high)
            return high
        }
    }

    private mutating func removing(_ unit: UInt32, from index: Index) -> (Index, Entry?) {
        guard index != 0 else { return (0, nil) }
        let node = nodes[index]
        if unit == node.entry.extent.start { return (dropping(index), node.entry) }
        let removed: Entry?
        if unit < node.entry.extent.start {
            (nodes[index].left, removed) = removing(unit, from: node.left)
        } else {
            (nodes[index].right, removed) = removing(unit, from: node.right)
        }
        refresh(index)
        return (index, removed)
    }

    /// Takes one node out of its subtree.
    private mutating func dropping(_ index: Index) -> Index {
        let rest = join(nodes[index].left, nodes[index].right)
        recycle(index)
        return rest
    }

    /// Requires an extent of at least `count` units below `index`.
    private mutating func cutting(_ count: UInt32, from index: Index) -> (Index, Entry) {
        let node = nodes[index]
        var cut = node.entry
        if nodes[node.left].longest >= count {
            (nodes[index].left, cut) = cutting(count, from: node.left)
        } else if cut.extent.count >= count {
            if cut.extent.count == count { return (dropping(index), cut) }
            nodes[index].entry.extent.start += count
            nodes[index].entry.extent.count -= count
            cut.extent.count = count
        } else {
            (nodes[index].right, cut) = cutting(count, from: node.right)
        }
        refresh(index)
        return (index, cut)
    }

    private mutating func takingHolding(from unit: UInt32, minimum: UInt32, in index: Index) -> (Index, Extent?) {
        let node = nodes[index]
        guard index != 0, node.longestHolding >= minimum else { return (index, nil) }
        var taken: Extent?
        if node.entry.extent.start >= unit {
            (nodes[index].left, taken) = takingHolding(from: unit, minimum: minimum, in: node.left)
            if taken == nil, node.entry.holdsBlocks, node.entry.extent.count >= minimum {
                return (dropping(index), node.entry.extent)
            }
        }
        if taken == nil {
            (nodes[index].right, taken) = takingHolding(from: unit, minimum: minimum, in: node.right)
        }
        refresh(index)
        return (index, taken)
    }

    private func visit(_ index: Index, _ body: (Entry) -> Void) {
        guard index != 0 else { return }
        visit(nodes[index].left, body)
        body(nodes[index].entry)
        visit(nodes[index].right, body)
    }

    private func isConsistent(_ index: Index, above low: UInt32, below high: UInt32, priority: UInt32) -> Bool {
        guard index != 0 else { return true }
        let node = nodes[index]
        let extent = node.entry.extent
        return extent.count > 0 && extent.start >= low && extent.end <= high && node.priority <= priority
            && summary(index) == (node.longest, node.longestHolding)
            && isConsistent(node.left, above: low, below: extent.start, priority: node.priority)
            && isConsistent(node.right, above: extent.end, below: high, priority: node.priority)
    }
}
