import PressureKit

/// Where the values are kept that are read. Several threads use it at once.
protocol WorthStore: Sendable {
    /// Passes the value for a key, loaded if need be.
    func read(_ key: Int, _ body: ([UInt8]) -> Bool) throws -> Bool
    /// Lets go of all values.
    func removeAll()
}

/// What a program without the library has: a dictionary with a bound in bytes under a mutex, the least recently used
/// first to go.
///
/// As good as such a thing is without much thought: the order is a list of numbers, not of objects, loads run without the
/// lock, and what goes is released without it.
final class WorthLRU: WorthStore {
    fileprivate struct Node {
        var key: Int
        var value: [UInt8]
        var newer = -1
        var older = -1
    }

    fileprivate struct State {
        var places: [Int: Int] = [:]
        var nodes: [Node] = []
        /// Nodes without a value.
        var free: [Int] = []
        var newest = -1
        var oldest = -1
        var byteCount = 0
    }

    private let bound: Int
    private let load: @Sendable (Int) throws -> [UInt8]
    private let state = Lock(State())

    init(bound: ByteCount, load: @escaping @Sendable (Int) throws -> [UInt8]) {
        self.bound = bound.bytes
        self.load = load
    }

    /// The bytes of all values in it.
    var byteCount: ByteCount { .bytes(state.withLock { $0.byteCount }) }

    func read(_ key: Int, _ body: ([UInt8]) -> Bool) throws -> Bool {
        if let value = state.withLock({ $0.find(key) }) { return body(value) }
        let value = try load(key)
        // What goes is released after the lock.
        let gone = state.withLock { $0.add(key, value, bound: bound) }
        return withExtendedLifetime(gone) { body(value) }
    }

    func removeAll() {
        let all = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(all) {}
    }
}

extension WorthLRU.State {
    /// The value, which is the newest now.
    fileprivate mutating func find(_ key: Int) -> [UInt8]? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return nodes[place].value
    }

    /// Keeps a value, unless somebody else has meanwhile, and takes out what is too much then.
    fileprivate mutating func add(_ key: Int, _ value: [UInt8], bound: Int) -> [[UInt8]] {
        guard places[key] == nil else { return [] }
        let place: Int
        if let free = free.popLast() {
            place = free
            nodes[place] = .init(key: key, value: value)
        } else {
            place = nodes.count
            nodes.append(.init(key: key, value: value))
        }
        places[key] = place
        link(place)
        byteCount += value.count
        var gone: [[UInt8]] = []
        while byteCount > bound, oldest >= 0 {
            let last = oldest
            unlink(last)
            byteCount -= nodes[last].value.count
            gone.append(nodes[last].value)
            nodes[last].value = []
            places[nodes[last].key] = nil
            free.append(last)
        }
        return gone
    }

    private mutating func link(_ place: Int) {
        nodes[place].newer = -1
        nodes[place].older = newest
        if newest >= 0 { nodes[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
    }
}

/// The library's cache, with nothing set.
struct WorthKit: WorthStore {
    let cache: KeyedCache<Int, [UInt8]>

    init(_ controller: PressureController, load: @escaping @Sendable (Int) throws -> [UInt8]) throws {
        cache = try controller.keyedCache("values", loader: load)
    }

    func read(_ key: Int, _ body: ([UInt8]) -> Bool) throws -> Bool { try cache.withValue(for: key, body) }

    func removeAll() { cache.removeAll() }
}
