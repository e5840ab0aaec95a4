/// The values that were read last, up to a sum of costs.
struct LRU<Key: Hashable, Value> {
    /// A place in the ring of all values, which begins and ends at one that has none.
    private final class Link {
        let key: Key?
        let value: Value?
        let cost: Int
        unowned var older: Link!
        unowned var newer: Link!

        init(key: Key?, value: Value?, cost: Int) { (self.key, self.value, self.cost) = (key, value, cost) }

        func leave() { (older.newer, newer.older) = (newer, older) }

        func join(after link: Link) {
            (older, newer) = (link, link.newer)
            (older.newer, newer.older) = (self, self)
        }
    }

    private let costLimit: Int
    private var cost = 0
    private var links: [Key: Link] = [:]
    private let ends = Link(key: nil, value: nil, cost: 0)
    private(set) var hits = 0
    private(set) var misses = 0

    init(costLimit: Int) {
        self.costLimit = costLimit
        (ends.older, ends.newer) = (ends, ends)
    }

    var count: Int { links.count }

    mutating func value(for key: Key) -> Value? {
        guard let link = links[key] else {
            misses += 1
            return nil
        }
        hits += 1
        link.leave()
        link.join(after: ends.older)
        return link.value
    }

    /// Keeps a value, and lets go of the ones that were not read for longest.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        while self.cost + cost > costLimit, let oldest = ends.newer.key { remove(oldest) }
        let link = Link(key: key, value: value, cost: cost)
        link.join(after: ends.older)
        links[key] = link
        self.cost += cost
    }

    private mutating func remove(_ key: Key) {
        guard let link = links.removeValue(forKey: key) else { return }
        link.leave()
        cost -= link.cost
    }
}
