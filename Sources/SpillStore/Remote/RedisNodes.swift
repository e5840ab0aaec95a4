#if Redis
import SystemPackage

/// The servers of a cluster that have keys, as any of them says.
enum RedisNodes {
    /// Asks for them; `nil` where there is no cluster.
    static func ask(_ connection: RedisConnection) throws(RedisFailure) -> [RedisServer.Endpoint]? {
        do throws(RedisFailure) {
            guard let text = try connection.ask(["CLUSTER", "NODES"]).text, let nodes = parse(text) else {
                throw .nonsense
            }
            return nodes.map { $0.seen(from: connection.endpoint) }
        } catch {
            // An error without a name of its own: the server is not in a cluster.
            guard error == RedisFailure(.ioError, mayArrive: false) else { throw error }
            return nil
        }
    }

    /// Reads what `CLUSTER NODES` answers: a line for each, and its slots from the ninth word on. One that has slots and is not
    /// there counts: its keys cannot be told then. `nil` for what is no such answer.
    static func parse(_ text: String) -> [RedisServer.Endpoint]? {
        var nodes: [RedisServer.Endpoint] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ")
            guard words.count >= 8 else { return nil }
            guard words[2].split(separator: ",").contains("master"), words.count > 8 else { continue }
            // host:port@busport, and names behind a comma.
            let address = words[1].prefix { $0 != "@" && $0 != "," }
            guard let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]) else {
                return nil
            }
            nodes.append(.tcp(host: String(address[..<colon]), port: port))
        }
        return nodes
    }
}
#endif
