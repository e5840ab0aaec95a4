#if Redis
import Glibc
import PressureSystem
import Synchronization
import SystemPackage

/// Keys live as long as somebody says so: each has a lease, which is renewed three times while it lasts. A process that ends
/// without a word leaves nothing behind for longer.
enum RedisLease {
    /// What the thread that renews is told, and what it says.
    struct Life {
        /// The file is closed: delete all keys and end.
        var isEnding = false
        /// It has.
        var isEnded = false
    }

    private static let spaces = Lock<(open: [RedisSpace], isAtExit: Bool)>(([], false))

    /// Notes a space whose keys are to be deleted when the process exits, if not before.
    static func open(_ space: RedisSpace) {
        let isFirst = spaces.withLock { spaces in
            spaces.open.append(space)
            defer { spaces.isAtExit = true }
            return !spaces.isAtExit
        }
        if isFirst { atexit { RedisLease.endAll() } }
    }

    static func closed(_ space: RedisSpace) {
        spaces.withLock { spaces in spaces.open.removeAll { $0 === space } }
    }

    /// Ends all that are open, and waits for each no longer than one connecting and one request may take.
    private static func endAll() {
        for space in spaces.withLock({ $0.open }) where space.process.isThisProcess {
            space.close(0)
            let server = space.options.server
            _ = space.life.wait(atMost: server.connectTimeout + server.commandTimeout) { $0.isEnded ? () : nil }
        }
    }
}

extension RedisSpace {
    /// The lease in the protocol's words: milliseconds.
    var lease: String { "\(options.lease.nanoseconds / 1_000_000)" }

    /// The life of the thread that renews.
    func keepLease() {
        while life.wait(atMost: options.lease / 3, { $0.isEnding ? () : nil }) == nil {
            // A child of fork(2) has no such thread. What fails now is tried again well before the lease ends.
            if options.renews { try? renew() }
        }
        end()
        RedisLease.closed(self)
        life.withLock { $0.isEnded = true }
    }

    /// Gives a sign of life: asks whether the server may evict now, and renews the lease of every key.
    ///
    /// - Parameter isFirst: whether the generation is new.
    /// - Throws: why the server could not be asked. Keys that it has lost are no failure: they show when they are read.
    func renew(isFirst: Bool = false) throws(RedisFailure) {
        _ = try pool.withConnection { connection throws(RedisFailure) in try pool.askPolicy(connection) }
        let (numbers, garbage) = segments.withLock { ($0.numbers, $0.takeGarbage()) }
        try? delete(garbage.map(keys.segment))
        if !numbers.isEmpty {
            _ = try pool.withConnection { connection throws(RedisFailure) in
                try connection.expire(numbers.map(keys.segment), in: lease)
            }
        }
        // The list is for people. Who may not write it, or not now, spills all the same.
        do throws(RedisFailure) {
            try register(segments: numbers.count)
        } catch {
            if isFirst, error.mayArrive { throw error }
        }
    }

    /// Enters the generation into the list, and takes out those whose leases have ended.
    private func register(segments: Int) throws(RedisFailure) {
        try pool.withConnection { connection throws(RedisFailure) in
            let time = try connection.time()
            try connection.append(["MULTI"])
            try connection.append([
                "HSET", keys.about, "pid", "\(getpid())", "host", RedisStateOwner.hostName, "segments", "\(segments)",
                "bytes", "\(segments * RedisSegments.segmentLength)", "lease", lease,
            ])
            try connection.append(["HSETNX", keys.about, "started", "\(time)"])
            try connection.append(["PEXPIRE", keys.about, lease])
            try connection.append(["EXEC"])
            try connection.exchange { _, _ in }
        }
        let registry = RedisKeys.registry(prefix: options.keyPrefix)
        try pool.withConnection(for: registry) { connection throws(RedisFailure) in
            // By the clock of the server that has the list, which is the same for all.
            let time = try connection.time()
            let end = time * 1000 + Int(options.lease.nanoseconds / 1_000_000)
            try connection.append(["ZREMRANGEBYSCORE", registry, "-inf", "\(time * 1000)"])
            try connection.append(["ZADD", registry, "\(end)", keys.generation])
            try connection.exchange { _, _ in }
            // The longest lease is the list's.
            let last = try connection.ask(["ZREVRANGE", registry, "0", "0", "WITHSCORES"]).list?.last
            _ = try connection.ask(["PEXPIREAT", registry, last ?? "\(end)"])
        }
    }

    /// Deletes all keys; without a server they go with their lease.
    private func end() {
        let numbers = segments.withLock { segments in
            defer { segments = RedisSegments() }
            return segments.numbers + segments.takeGarbage()
        }
        try? delete(numbers.map(keys.segment) + [keys.about])
        let registry = RedisKeys.registry(prefix: options.keyPrefix)
        try? pool.withConnection(for: registry) { connection throws(RedisFailure) in
            _ = try connection.ask(["ZREM", registry, keys.generation])
        }
    }

    /// Deletes keys, in the server's background.
    func delete(_ names: [String]) throws(RedisFailure) {
        guard !names.isEmpty else { return }
        try pool.withConnection { connection throws(RedisFailure) in try connection.unlink(names) }
    }
}
#endif
