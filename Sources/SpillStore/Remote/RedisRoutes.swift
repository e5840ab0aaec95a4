#if Redis
import PressureSystem
import SystemPackage

/// Which of several servers has which keys, as far as they have said, and which to ask next. Pure: connects to nothing.
///
/// Keys are told apart by what a cluster chooses their node by, the part in braces, or the whole key (``tag``). Servers that
/// are no cluster say the same of all: they are the primary's.
struct RedisRoutes {
    private struct Route {
        /// The server that was found, or that another has named.
        var endpoint: RedisServer.Endpoint?
        /// It has said that it is a replica now.
        var replica: RedisServer.Endpoint?
        /// The last that a connection was made to.
        var found: RedisServer.Endpoint?
        var delay = ReconnectDelay()
    }

    private let named: [RedisServer.Endpoint]
    private var routes: [String: Route] = [:]

    /// - Parameter named: those that the user has named, at least one.
    init(_ named: [RedisServer.Endpoint]) { self.named = named }

    /// In which order servers are asked: first the one that had these keys last, then those that have others, then those that were
    /// named. One that has become a replica is the last.
    func candidates(for tag: String) -> [RedisServer.Endpoint] {
        let others = routes.sorted { $0.key < $1.key }.compactMap(\.value.endpoint)
        let route = routes[tag]
        var candidates: [RedisServer.Endpoint] = []
        for endpoint in [route?.endpoint].compactMap(\.self) + others + named
        where endpoint != route?.replica && !candidates.contains(endpoint) {
            candidates.append(endpoint)
        }
        return candidates + [route?.replica].compactMap(\.self)
    }

    /// A connection has been made.
    ///
    /// - Returns: whether it is to another server than the one before.
    mutating func noteFound(_ endpoint: RedisServer.Endpoint, for tag: String) -> Bool {
        let before = routes[tag]
        routes[tag] = Route(endpoint: endpoint, found: endpoint, delay: before?.delay ?? ReconnectDelay())
        return before?.found != nil && before?.found != endpoint
    }

    /// The server that was found is the one.
    mutating func noteSuccess(for tag: String) { routes[tag]?.delay.noteSuccess() }

    /// No connection could be made.
    mutating func noteFailure(_ errno: Errno, for tag: String, at now: MonotonicInstant) {
        routes[tag, default: Route()].delay.noteFailure(errno, at: now)
    }

    /// Why not to try connecting now; `nil` to try.
    func refusal(for tag: String, at now: MonotonicInstant) -> Errno? { routes[tag]?.delay.refusal(at: now) }

    /// A server has not done what it was asked, since it is not the one to ask.
    ///
    /// - Returns: whether another may be.
    mutating func noteRefusal(
        _ failure: RedisFailure,
        of endpoint: RedisServer.Endpoint,
        for tag: String
    ) -> Bool {
        if let moved = failure.moved {
            routes[tag, default: Route()].endpoint = moved.seen(from: endpoint)
            routes[tag]?.replica = nil
            return true
        }
        guard failure.isReplica, named.count > 1 else {
            // Whatever is wrong, it is there.
            noteSuccess(for: tag)
            return false
        }
        // What others' keys are looked for by is wrong too.
        for tag in Set(routes.keys).union([tag]) where [nil, endpoint].contains(routes[tag]?.endpoint) {
            routes[tag, default: Route()].endpoint = nil
            routes[tag]?.replica = endpoint
        }
        return true
    }
}
#endif
