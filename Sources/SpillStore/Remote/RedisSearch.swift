#if Redis
import PressureSystem
import SystemPackage

/// The way of one request to the server that has its keys: no longer than a deadline, and not in circles.
struct RedisSearch {
    /// Answers that lead elsewhere and are followed. A cluster at rest needs one.
    static let mostTurns = 5

    private let server: RedisServer
    /// When it ends: one connecting and one request are given to all of it.
    let end: MonotonicInstant
    private var turns = 0
    /// Those that could not be connected to, or are replicas.
    private var failed: Set<RedisServer.Endpoint> = []
    private var failure: RedisFailure?

    init(_ server: RedisServer) {
        self.server = server
        end = SystemClock().now() + server.connectTimeout + server.commandTimeout
    }

    /// Connects to the first that lets us in and does not say that it is a replica. Blocks.
    ///
    /// - Throws: why none did: that one is a replica, if one was; else what was wrong with the first.
    mutating func connect(_ candidates: [RedisServer.Endpoint]) throws(RedisFailure) -> RedisConnection {
        var rest = candidates
        while !rest.isEmpty {
            let endpoint = rest.removeFirst()
            guard !failed.contains(endpoint) else { continue }
            do throws(RedisFailure) {
                let connection = try RedisConnection(to: endpoint, of: server, until: end)
                guard case .replica(let primary) = connection.role else { return connection }
                // It may know better than whoever has named it.
                if let primary, !rest.contains(primary) { rest.append(primary) }
                failure = .replica
            } catch {
                // Letting in is all that was asked.
                if failure == nil { failure = RedisFailure(error.errno, mayArrive: false) }
            }
            failed.insert(endpoint)
        }
        throw failure ?? RedisFailure(.timedOut, mayArrive: false)
    }

    /// Turns to another server, after what one has answered.
    ///
    /// - Parameter now: for what is put off when that is in vain.
    /// - Throws: why there is none to turn to.
    mutating func turn(
        from endpoint: RedisServer.Endpoint,
        after failure: RedisFailure,
        for tag: String,
        _ routes: inout RedisRoutes,
        at now: MonotonicInstant
    ) throws(RedisFailure) {
        guard routes.noteRefusal(failure, of: endpoint, for: tag) else { throw failure }
        // It names one that is not there: the others of a cluster need a while to know.
        if let moved = failure.moved?.seen(from: endpoint), failed.contains(moved), let reason = self.failure {
            routes.noteFailure(reason.errno, for: tag, at: now)
            throw reason
        }
        turns += 1
        guard turns <= Self.mostTurns, SystemClock().now() < end else { throw failure }
    }

    /// Runs `body` with a connection of its own. Blocks.
    ///
    /// - Parameter routes: what is known of the servers.
    /// - Throws: what `body` does; why there is no connection.
    static func withConnection<Result>(
        to server: RedisServer,
        for tag: String,
        _ routes: RedisRoutes,
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        var search = RedisSearch(server)
        var routes = routes
        while true {
            let connection = try search.connect(routes.candidates(for: tag))
            do throws(RedisFailure) {
                return try body(connection)
            } catch {
                try search.turn(from: connection.endpoint, after: error, for: tag, &routes, at: SystemClock().now())
            }
        }
    }
}
#endif
