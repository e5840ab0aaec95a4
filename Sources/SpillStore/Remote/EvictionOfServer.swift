#if Redis
import SystemPackage

/// Whether a server may give up what it was told to keep when its memory is full. It says so itself, and may change its mind:
/// it is asked again with each renewal.
enum EvictionOfServer: Hashable {
    /// `maxmemory-policy noeviction`: it refuses writes instead.
    case keepsEverything
    /// Any other policy; our keys have leases, so the `volatile` ones are for them too.
    case mayEvict
    /// It does not tell this user: so it may.
    case unknown

    init(policy: Substring?) {
        self =
            switch policy {
            case nil: .unknown
            case "noeviction": .keepsEverything
            default: .mayEvict
            }
    }

    /// Finds the policy in what `INFO memory` answers.
    static func parse(_ info: String) -> EvictionOfServer {
        EvictionOfServer(policy: RedisInfo.value(of: "maxmemory_policy", in: info))
    }

    /// Asks for it, by the way that most users are permitted, else by the other one.
    static func ask(_ connection: RedisConnection) throws(RedisFailure) -> EvictionOfServer {
        do throws(RedisFailure) {
            let found = try connection.ask(["INFO", "memory"]).text.map(parse) ?? .unknown
            if found != .unknown { return found }
        } catch {
            guard error.errno == .notPermitted else { throw error }
        }
        do throws(RedisFailure) {
            // Name and value take turns.
            return EvictionOfServer(policy: try connection.ask(["CONFIG", "GET", "maxmemory-policy"]).list?.last?[...])
        } catch {
            guard error.errno == .notPermitted else { throw error }
            return .unknown
        }
    }
}
#endif
