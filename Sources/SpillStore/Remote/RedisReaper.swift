#if Redis
package import PressureSystem
import SystemPackage

/// Lists what processes have on a server, and deletes what nobody holds any more. Blocks; allocates.
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
        try connected { connection throws(RedisFailure) in try look(connection).map(\.generation) }
    }

    /// Deletes the keys of generations that have ended, or of all; those of a process that runs are lost to it then.
    ///
    /// - Returns: those that were deleted.
    /// - Throws: ``PressureError`` with code `serverUnusable`.
    package func sweep(all: Bool) throws(PressureError) -> [Generation] {
        try connected { connection throws(RedisFailure) in
            let swept = try look(connection).filter { all || $0.generation.state == .ended }
            for found in swept {
                try connection.unlink(found.names)
                _ = try connection.ask(["ZREM", RedisKeys.registry(prefix: keyPrefix), found.generation.name])
            }
            return swept.map(\.generation)
        }
    }

    func connected<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(PressureError) -> Result {
        do throws(RedisFailure) {
            return try body(try RedisConnection(to: server))
        } catch {
            throw .serverUnusable("Redis at \(server.name)", errno: error.errno)
        }
    }

    private typealias Found = (generation: Generation, names: [String])

    private func look(_ connection: RedisConnection) throws(RedisFailure) -> [Found] {
        guard let now = try connection.ask(["TIME"]).list?.first.flatMap({ Int($0) }) else { throw .nonsense }
        var found: [String: Found] = [:]
        // Members and scores take turns.
        let registry =
            try connection.ask([
                "ZRANGE", RedisKeys.registry(prefix: keyPrefix), "0", "-1", "WITHSCORES",
            ]).list ?? []
        for index in stride(from: 0, to: registry.count - 1, by: 2) {
            var generation = Generation(name: registry[index])
            let end = Double(registry[index + 1]) ?? 0
            generation.state = end < Double(now) * 1000 ? .ended : .held
            found[generation.name] = (generation, [])
        }
        var cursor = "0"
        repeat {
            let request = ["SCAN", cursor, "MATCH", "\(keyPrefix):{*}:*", "COUNT", "1000"]
            guard let page = try connection.ask(request).page else { throw .nonsense }
            try measure(page.found, &found, on: connection)
            cursor = page.cursor
        } while cursor != "0"
        for name in found.keys { try describe(&found[name]!.generation, at: now, on: connection) }
        return found.values.sorted {
            ($1.generation.bytes, $0.generation.name) < ($0.generation.bytes, $1.generation.name)
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
            var entry = found[generation] ?? (Generation(name: generation), [])
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
