#if Redis
package import PressureSystem
import SystemPackage

/// Lists what processes have on a server, or on all nodes of a cluster, and deletes what nobody holds any more. Blocks; allocates.
package struct RedisReaper: Sendable {
    /// The keys of one spill file of one process.
    package struct Generation: Hashable, Sendable {
        package var name: String
        /// Whose it is; `nil` where it has not said.
        package var host: String?
        package var pid: Int?
        /// Seconds since it was made, by the server's clock.
        package var age: Int?
        /// Strings, and their bytes.
        package var segments = 0
        package var bytes = 0
        /// Milliseconds until its last key goes by itself; `nil` for a key that does not.
        package var leaseLeft: Int? = 0
        /// What has become of its process.
        package var state = State.unlisted
    }

    package enum State: String, Sendable {
        /// It has renewed its lease.
        case held
        /// Its lease is over, or a key has none.
        case ended
        /// It is not on the list: its lease tells, sooner or later.
        case unlisted
    }

    private let server: RedisServer
    let keyPrefix: String

    package init(_ server: RedisServer, keyPrefix: String = "pk") {
        self.server = server
        self.keyPrefix = keyPrefix
    }

    /// All generations, the largest first.
    ///
    /// - Throws: ``PressureError`` with code `serverUnusable`.
    package func list() throws(PressureError) -> [Generation] {
        try attempt { () throws(RedisFailure) in try look().map(\.generation) }
    }

    /// Deletes the keys of generations that have ended, or of all; those of a process that runs are lost to it then.
    ///
    /// - Returns: those that were deleted.
    /// - Throws: ``PressureError`` with code `serverUnusable`.
    package func sweep(all: Bool) throws(PressureError) -> [Generation] {
        try attempt { () throws(RedisFailure) in
            let swept = try look().filter { all || $0.generation.state == .ended }
            for found in swept { try found.node?.unlink(found.names) }
            try withRegistry { connection throws(RedisFailure) in
                for found in swept { _ = try connection.ask(["ZREM", registry, found.generation.name]) }
            }
            return swept.map(\.generation)
        }
    }

    func attempt<Result>(_ body: () throws(RedisFailure) -> Result) throws(PressureError) -> Result {
        do throws(RedisFailure) {
            return try body()
        } catch {
            throw .serverUnusable("Redis at \(server.name)", errno: error.errno)
        }
    }

    private var registry: String { RedisKeys.registry(prefix: keyPrefix) }

    private func withRegistry<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        try RedisSearch.withConnection(to: server, for: registry, RedisRoutes(server.endpoints), body)
    }

    /// Connections to the servers that have keys: to the primary, or to each of a cluster's.
    func nodes() throws(RedisFailure) -> [RedisConnection] {
        try withRegistry { connection throws(RedisFailure) in
            guard let nodes = try RedisNodes.ask(connection) else { return [connection] }
            return try nodes.map { node throws(RedisFailure) in
                let end = RedisSearch(server).end
                return try RedisConnection(to: node, of: server, until: end)
            }
        }
    }

    private struct Found {
        var generation: Generation
        var names: [String] = []
        /// The server that has them.
        var node: RedisConnection?
    }

    private func look() throws(RedisFailure) -> [Found] {
        var found = try listed()
        for node in try nodes() { try scan(node, &found) }
        return found.values.sorted {
            ($1.generation.bytes, $0.generation.name) < ($0.generation.bytes, $1.generation.name)
        }
    }

    /// The generations that are on the list.
    private func listed() throws(RedisFailure) -> [String: Found] {
        try withRegistry { connection throws(RedisFailure) in
            let now = try connection.time()
            var found: [String: Found] = [:]
            // Members and scores take turns.
            let listed = try connection.ask(["ZRANGE", registry, "0", "-1", "WITHSCORES"]).list ?? []
            for index in stride(from: 0, to: listed.count - 1, by: 2) {
                var generation = Generation(name: listed[index])
                let end = Double(listed[index + 1]) ?? 0
                generation.state = end < Double(now) * 1000 ? .ended : .held
                found[generation.name] = Found(generation: generation)
            }
            return found
        }
    }

    /// Adds what one server has.
    private func scan(_ connection: RedisConnection, _ found: inout [String: Found]) throws(RedisFailure) {
        let now = try connection.time()
        var cursor = "0"
        repeat {
            let request = ["SCAN", cursor, "MATCH", "\(keyPrefix):{*}:*", "COUNT", "1000"]
            guard let page = try connection.ask(request).page else { throw .nonsense }
            try measure(page.found, &found, on: connection)
            cursor = page.cursor
        } while cursor != "0"
        for name in found.keys where found[name]!.node === connection {
            try describe(&found[name]!.generation, at: now, on: connection)
        }
    }

    /// Adds some keys, with their lengths and leases.
    private func measure(
        _ names: [String],
        _ found: inout [String: Found],
        on connection: RedisConnection
    ) throws(RedisFailure) {
        let known = names.compactMap { name in RedisKeys.parse(name, prefix: keyPrefix).map { (name, $0) } }
        for (name, key) in known {
            try connection.append(["PTTL", name])
            if key.isSegment { try connection.append(["STRLEN", name]) }
        }
        var numbers: [Int] = []
        try connection.exchange { _, answer throws(RedisFailure) in
            guard let number = answer.integer else { throw .nonsense }
            numbers.append(number)
        }
        var next = numbers.makeIterator()
        for (name, key) in known {
            let generation = key.keys.generation
            var entry = found[generation] ?? Found(generation: Generation(name: generation))
            entry.node = connection
            // A scan may name a key twice.
            let isNew = !entry.names.contains(name)
            // -2: gone meanwhile. -1: it has none.
            if let left = next.next(), left != -2, isNew {
                if left == -1 { entry.generation.state = .ended }
                entry.generation.leaseLeft = left == -1 ? nil : entry.generation.leaseLeft.map { max($0, left) }
                entry.names.append(name)
            }
            if key.isSegment, let length = next.next(), length > 0, isNew {
                entry.generation.segments += 1
                entry.generation.bytes += length
            }
            found[generation] = entry
        }
    }

    private func describe(
        _ generation: inout Generation,
        at now: Int,
        on connection: RedisConnection
    ) throws(RedisFailure) {
        let keys = RedisKeys(prefix: keyPrefix, generation: generation.name)
        let about = try connection.ask(["HMGET", keys.about, "host", "pid", "started"]).list ?? []
        guard about.count == 3, !about[1].isEmpty else { return }
        generation.host = about[0]
        generation.pid = Int(about[1])
        generation.age = Int(about[2]).map { max(0, now - $0) }
    }
}
#endif
