import PressureSystem

/// Which loads wait for which, because their loaders read caches.
enum LoadWaits {
    private struct Waiter {
        let load: Load
        var targets: [Load.Identity] = []
    }

    private static let waiters = Lock<[Load.Identity: Waiter]>([:])

    /// Waits for a load, as `wait` does, unless the calling thread or task is inside of it or of one that it waits for,
    /// directly or through others.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess`, and with the paths of all who would wait for each other.
    static func wait<Result>(for target: Load.Identity, _ wait: () throws -> Result) throws -> Result {
        guard let waiter = loadAround else { return try wait() }
        try begin(waiter, for: target)
        defer { remove(waiter.identity, target) }
        return try wait()
    }

    /// The same for who suspends.
    static func wait<Result>(for target: Load.Identity, _ wait: () async throws -> Result) async throws -> Result {
        guard let waiter = loadAround else { return try await wait() }
        try begin(waiter, for: target)
        defer { remove(waiter.identity, target) }
        return try await wait()
    }

    /// A load that has begun within another one: that waits for it.
    static func add(_ waiter: Load, for load: Load) {
        guard let waiter = firstLoad(from: waiter), let target = load.identity else { return }
        waiters.withLock { add(waiter, target, to: &$0) }
    }

    static func remove(_ waiter: Load, for load: Load) {
        guard let waiter = firstLoad(from: waiter), let target = load.identity else { return }
        remove(waiter.identity, target)
    }

    /// How many loads wait for others.
    static var count: Int { waiters.withLock { $0.count } }

    private static var loadAround: Load? { firstLoad(from: Load.current) }

    private static func firstLoad(from load: Load?) -> Load? {
        var next = load
        while let load = next, load.identity == nil { next = load.nextOut }
        return next
    }

    private static func begin(_ waiter: Load, for target: Load.Identity) throws {
        let circle = waiters.withLock { waiters -> [Load]? in
            let circle = findCircle(from: target, to: waiter, waiters)
            if circle == nil { add(waiter, target, to: &waiters) }
            return circle
        }
        guard let circle else { return }
        throw PressureError.circularLoads(circle.map { $0.name })
    }

    /// The loads that wait for each other, from `target` to `waiter`; `nil` if `target` does not wait for `waiter`.
    private static func findCircle(
        from target: Load.Identity,
        to waiter: Load,
        _ waiters: [Load.Identity: Waiter]
    ) -> [Load]? {
        var reached = [(identity: target, from: 0)]
        var known: Set = [target]
        var next = 0
        while next < reached.count {
            if reached[next].identity == waiter.identity {
                var loads = [waiter]
                while next > 0 {
                    next = reached[next].from
                    if let load = waiters[reached[next].identity]?.load { loads.append(load) }
                }
                return loads.reversed()
            }
            for identity in waiters[reached[next].identity]?.targets ?? [] where known.insert(identity).inserted {
                reached.append((identity, next))
            }
            next += 1
        }
        return nil
    }

    private static func add(_ waiter: Load, _ target: Load.Identity, to waiters: inout [Load.Identity: Waiter]) {
        guard let identity = waiter.identity else { return }
        waiters[identity, default: Waiter(load: waiter)].targets.append(target)
    }

    private static func remove(_ waiter: Load.Identity?, _ target: Load.Identity) {
        guard let waiter else { return }
        waiters.withLock { waiters in
            guard let index = waiters[waiter]?.targets.firstIndex(of: target) else { return }
            waiters[waiter]?.targets.remove(at: index)
            if waiters[waiter]?.targets.isEmpty == true { waiters[waiter] = nil }
        }
    }
}
