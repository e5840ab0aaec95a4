#if Redis
import PressureKit
import SpillStore

/// What `pressuresim remote` found on a server, or deleted there.
struct RemoteReport {
    var server: String
    var isSwept: Bool
    var generations: [RedisReaper.Generation]

    /// A line each, and the sum.
    var text: String {
        let bytes = ByteCount.bytes(generations.reduce(0) { $0 + $1.bytes })
        let what = isSwept ? "deleted" : "found"
        let sum = "\(server): \(generations.count) generation\(generations.count == 1 ? "" : "s") \(what), \(bytes)"
        return ([sum] + generations.map { "  \(Self.line($0))" }).joined(separator: "\n")
    }

    private static func line(_ generation: RedisReaper.Generation) -> String {
        var parts = [generation.state.rawValue, "\(ByteCount.bytes(generation.bytes))"]
        if let host = generation.host, let pid = generation.pid { parts.append("process \(pid) on \(host)") }
        if let age = generation.age { parts.append("\(age) s old") }
        parts.append(generation.leaseLeft.map { "stays for \(($0 + 999) / 1000) s" } ?? "stays for ever")
        return "\(generation.name): \(parts.joined(separator: ", "))"
    }

    /// The same as JSON.
    struct Facts: Encodable {
        struct Generation: Encodable {
            var name: String
            var state: String
            var bytes: Int
            var segments: Int
            var host: String?
            var pid: Int?
            var ageSeconds: Int?
            /// Absent for what stays for ever.
            var leaseLeftMilliseconds: Int?
        }

        var server: String
        var swept: Bool
        var generations: [Generation]

        init(_ report: RemoteReport) {
            server = report.server
            swept = report.isSwept
            generations = report.generations.map {
                Generation(
                    name: $0.name,
                    state: $0.state.rawValue,
                    bytes: $0.bytes,
                    segments: $0.segments,
                    host: $0.host,
                    pid: $0.pid,
                    ageSeconds: $0.age,
                    leaseLeftMilliseconds: $0.leaseLeft
                )
            }
        }
    }
}
#endif
