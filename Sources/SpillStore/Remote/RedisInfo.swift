#if Redis
import SystemPackage

/// What `INFO` answers: lines of `name:value`.
enum RedisInfo {
    static func value(of name: String, in text: String) -> Substring? {
        text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }?.dropFirst(name.utf8.count + 1)
    }
}

/// Whether a server takes writes, as it says itself.
enum RoleOfServer: Hashable {
    case primary
    /// It has what its primary has, a little later; where that is, as far as it says.
    case replica(of: RedisServer.Endpoint?)
    /// It does not tell this user. A write will.
    case unknown

    /// Reads what `INFO replication` answers.
    static func parse(_ info: String) -> RoleOfServer {
        switch RedisInfo.value(of: "role", in: info) {
        case "master": return .primary
        case "slave":
            guard let host = RedisInfo.value(of: "master_host", in: info), !host.isEmpty,
                let port = RedisInfo.value(of: "master_port", in: info).flatMap({ Int($0) }), 1...65_535 ~= port
            else { return .replica(of: nil) }
            return .replica(of: .tcp(host: String(host), port: port))
        default: return .unknown
        }
    }

    /// Asks for it by the command that the policy is asked for by, which users are permitted for that.
    static func ask(_ connection: RedisConnection) throws(RedisFailure) -> RoleOfServer {
        do throws(RedisFailure) {
            return try connection.ask(["INFO", "replication"]).text.map(parse) ?? .unknown
        } catch {
            guard error.errno == .notPermitted else { throw error }
            return .unknown
        }
    }
}
#endif
