#if Redis
import PressureSystem
import SystemPackage

/// The connections to one server: a few, made when they are needed and kept. From any thread that may block.
final class RedisPool: Sendable {
    private struct State {
        var idle: [RedisConnection] = []
        /// Those that are idle, in use or being made.
        var count = 0
        var delay = ReconnectDelay()
    }

    private enum Place {
        case kept(RedisConnection)
        case free
        case refused(Errno)
    }

    let server: RedisServer
    private let clock: any MonotonicClock
    private let state = ConditionLock(State())
    /// A child of fork(2) has the same sockets, and must leave them alone.
    let process = ProcessMark()

    /// - Parameter clock: by which connecting is put off after failures. Deadlines go by the system's.
    init(_ server: RedisServer, clock: any MonotonicClock) {
        self.server = server
        self.clock = clock
    }

    /// Runs `body` with a connection that nobody else has meanwhile. Blocks until there is one, and as long as `body` does.
    ///
    /// A connection on which something is unanswered is closed afterwards.
    ///
    /// - Throws: what `body` does; why there is no connection, in no more time than one connecting and one request may take.
    func withConnection<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        let connection = try take()
        do throws(RedisFailure) {
            let result = try body(connection)
            giveBack(connection)
            return result
        } catch {
            giveBack(error.mayArrive ? nil : connection)
            throw error
        }
    }

    /// The same for what may be asked twice: a connection that was closed while it was idle says nothing about the server. A child
    /// of fork(2) asks on a connection of its own.
    func withConnectionRepeatably<Result>(
        _ body: (RedisConnection) throws(RedisFailure) -> Result
    ) throws(RedisFailure) -> Result {
        guard process.isThisProcess else { return try body(try RedisConnection(to: server)) }
        do throws(RedisFailure) {
            return try withConnection(body)
        } catch {
            guard error.errno == .connectionReset else { throw error }
            return try withConnection(body)
        }
    }

    private func take() throws(RedisFailure) -> RedisConnection {
        let place = state.wait(atMost: server.connectTimeout + server.commandTimeout) { state -> Place? in
            if let connection = state.idle.popLast() { return .kept(connection) }
            guard state.count < server.connections else { return nil }
            if let errno = state.delay.refusal(at: clock.now()) { return .refused(errno) }
            state.count += 1
            return .free
        }
        switch place {
        case nil: throw RedisFailure(.timedOut, mayArrive: false)
        case .refused(let errno): throw RedisFailure(errno, mayArrive: false)
        case .kept(let connection): return connection.isStale ? try connect() : connection
        case .free: return try connect()
        }
    }

    /// Connects, for a place that has been counted.
    private func connect() throws(RedisFailure) -> RedisConnection {
        do throws(RedisFailure) {
            let connection = try RedisConnection(to: server)
            state.withLock { $0.delay.noteSuccess() }
            return connection
        } catch {
            let now = clock.now()
            state.withLock { state in
                state.count -= 1
                state.delay.noteFailure(error.errno, at: now)
            }
            // Letting in is all that was asked.
            throw RedisFailure(error.errno, mayArrive: false)
        }
    }

    private func giveBack(_ connection: RedisConnection?) {
        state.withLock { state in
            if let connection, connection.isSettled { state.idle.append(connection) } else { state.count -= 1 }
        }
    }
}
#endif
