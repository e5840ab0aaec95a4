#if Redis
import PressureSystem
import Synchronization
import SystemPackage

/// The connections to a server, or to several of which each has some of the keys: a few, made when they are needed and kept. From
/// any thread that may block.
final class RedisPool: Sendable {
    private struct State {
        /// The one that was used last is the last.
        var idle: [RedisConnection] = []
        /// Those that are idle, in use or being made, to whichever server.
        var count = 0
        var routes: RedisRoutes

        mutating func giveBack(_ connection: RedisConnection, isOfUse: Bool) {
            if isOfUse, connection.isSettled { idle.append(connection) } else { count -= 1 }
        }

        /// Those that are idle.
        mutating func close(_ endpoint: RedisServer.Endpoint) {
            count -= idle.count { $0.endpoint == endpoint }
            idle.removeAll { $0.endpoint == endpoint }
        }
    }

    private enum Place {
        case kept(RedisConnection)
        case free
        case refused(Errno)
    }

    let server: RedisServer
    /// Of the keys that it is for, if nothing else is said.
    private let tag: String
    private let clock: any MonotonicClock
    private let state: ConditionLock<State>
    private let isKeeping = Atomic<Bool>(false)
    /// A child of fork(2) has the same sockets, and must leave them alone.
    let process = ProcessMark()

    /// - Parameters:
    ///   - tag: what a cluster chooses the node of its keys by.
    ///   - clock: by which connecting is put off after failures. Deadlines go by the system's.
    init(_ server: RedisServer, for tag: String, clock: any MonotonicClock) {
        self.server = server
        self.tag = tag
        self.clock = clock
        state = ConditionLock(State(routes: RedisRoutes(server.endpoints)))
    }

    /// Runs `body` with a connection that nobody else has meanwhile. Blocks until there is one, and as long as `body` does.
    ///
    /// A server that answers that another has the keys, or takes the writes, has done nothing: `body` is run again, with a
    /// connection to that one. A connection on which something is unanswered is closed afterwards.
    ///
    /// - Parameter other: of the keys that are asked for, if they are not the pool's own.
    /// - Throws: what `body` does; why there is no connection, in no more time than one connecting and one request may take,
    ///   however many servers are tried.
    func withConnection<Result>(
        for other: String? = nil,
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        let tag = other ?? tag
        var search = RedisSearch(server)
        while true {
            let connection = try take(for: tag, &search)
            do throws(RedisFailure) {
                let result = try body(connection)
                giveBack(connection, for: tag)
                return result
            } catch {
                try giveBack(connection, after: error, for: tag, &search)
            }
        }
    }

    /// The same for what may be asked twice: a connection that was closed while it was idle says nothing about the server. A child
    /// of fork(2) asks on a connection of its own.
    func withConnectionRepeatably<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        guard process.isThisProcess else { return try withConnectionApart(body) }
        do throws(RedisFailure) {
            return try withConnection(body)
        } catch {
            guard error.errno == .connectionReset else { throw error }
            return try withConnection(body)
        }
    }

    /// The same with a connection that is not one of the pool's, and may be kept.
    func withConnectionApart<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        // Somebody may have held the parent's lock.
        let routes = process.isThisProcess ? state.withQuietLock { $0.routes } : RedisRoutes(server.endpoints)
        return try RedisSearch.withConnection(to: server, for: tag, routes, body)
    }

    /// Whether the server that has these keys keeps what it has until it is told otherwise, as far as it has said.
    var keepsEverything: Bool { isKeeping.load(ordering: .relaxed) }

    /// Asks whether the server may evict.
    func askPolicy(_ connection: RedisConnection) throws(RedisFailure) -> EvictionOfServer {
        let policy = try EvictionOfServer.ask(connection)
        isKeeping.store(policy == .keepsEverything, ordering: .relaxed)
        return policy
    }

    private func take(for tag: String, _ search: inout RedisSearch) throws(RedisFailure) -> RedisConnection {
        let left = max(.zero, search.end - SystemClock().now())
        let place = state.wait(atMost: left) { state -> Place? in
            let endpoint = state.routes.candidates(for: tag)[0]
            if let index = state.idle.lastIndex(where: { $0.endpoint == endpoint }) {
                return .kept(state.idle.remove(at: index))
            }
            if state.count == server.connections {
                // Those to other servers make room.
                guard !state.idle.isEmpty else { return nil }
                state.idle.removeFirst()
                state.count -= 1
            }
            if let errno = state.routes.refusal(for: tag, at: clock.now()) { return .refused(errno) }
            state.count += 1
            return .free
        }
        switch place {
        case nil: throw RedisFailure(.timedOut, mayArrive: false)
        case .refused(let errno): throw RedisFailure(errno, mayArrive: false)
        case .kept(let connection): return connection.isStale ? try connect(for: tag, &search) : connection
        case .free: return try connect(for: tag, &search)
        }
    }

    /// Connects, for a place that has been counted.
    private func connect(for tag: String, _ search: inout RedisSearch) throws(RedisFailure) -> RedisConnection {
        do throws(RedisFailure) {
            let connection = try search.connect(state.withQuietLock { $0.routes.candidates(for: tag) })
            let isOther = state.withLock { $0.routes.noteFound(connection.endpoint, for: tag) }
            // Before anything goes there.
            if isOther, tag == self.tag { _ = try askPolicy(connection) }
            return connection
        } catch {
            let now = clock.now()
            state.withLock { state in
                state.count -= 1
                state.routes.noteFailure(error.errno, for: tag, at: now)
            }
            throw RedisFailure(error.errno, mayArrive: false)
        }
    }

    private func giveBack(_ connection: RedisConnection, for tag: String) {
        state.withLock { state in
            state.giveBack(connection, isOfUse: true)
            state.routes.noteSuccess(for: tag)
        }
    }

    /// - Throws: why nobody else is asked.
    private func giveBack(
        _ connection: RedisConnection,
        after failure: RedisFailure,
        for tag: String,
        _ search: inout RedisSearch
    ) throws(RedisFailure) {
        let now = clock.now()
        let result = state.withLock { state -> Result<Void, RedisFailure> in
            state.giveBack(connection, isOfUse: !failure.mayArrive)
            // A primary is what it was when these were made.
            if failure.isReplica, server.isSeveral { state.close(connection.endpoint) }
            return Result { () throws(RedisFailure) in
                try search.turn(from: connection.endpoint, after: failure, for: tag, &state.routes, at: now)
            }
        }
        try result.get()
    }
}
#endif
