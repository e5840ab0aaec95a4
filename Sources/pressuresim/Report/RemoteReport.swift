#if Redis
import PressureKit
import SpillStore

/// What `pressuresim remote` found on a server, or deleted there.
struct RemoteReport {
    var server: String
    var isSwept: Bool
    var generations: [RedisReaper.Generation]
    var states: [RedisReaper.SavedState] = []

    /// A line each, and the sums; of saved states only where there are some.
    var text: String {
        let bytes = ByteCount.bytes(generations.reduce(0) { $0 + $1.bytes })
        let what = isSwept ? "deleted" : "found"
        let sum = "\(server): \(generations.count) generation\(generations.count == 1 ? "" : "s") \(what), \(bytes)"
        var lines = [sum] + generations.map { "  \(Self.line($0))" }
        if !states.isEmpty {
            let bytes = ByteCount.bytes(states.reduce(0) { $0 + $1.bytes + $1.otherBytes })
            lines.append("saved: \(states.count) state\(states.count == 1 ? "" : "s") \(what), \(bytes)")
            lines += states.map { "  \(line($0))" }
        }
        return lines.joined(separator: "\n")
    }

    private func line(_ state: RedisReaper.SavedState) -> String {
        var parts: [String] = []
        if let host = state.host, let pid = state.pid, let age = state.age {
            parts.append("\(ByteCount.bytes(state.bytes)), saved \(age) s ago by process \(pid) on \(host)")
        }
        // Without a state it is what was begun.
        if state.otherBytes > 0 { parts.append("\(ByteCount.bytes(state.otherBytes)) that are not the state") }
        if !isSwept { parts.append(Self.time(state.left)) }
        if let holder = state.holder { parts.append("held by \(holder)") }
        return "\(state.name): \(parts.joined(separator: ", "))"
    }

    private static func time(_ left: Int?) -> String {
        left.map { "stays for \(($0 + 999) / 1000) s" } ?? "stays for ever"
    }

    private static func line(_ generation: RedisReaper.Generation) -> String {
        var parts = [generation.state.rawValue, "\(ByteCount.bytes(generation.bytes))"]
        if let host = generation.host, let pid = generation.pid { parts.append("process \(pid) on \(host)") }
        if let age = generation.age { parts.append("\(age) s old") }
        parts.append(time(generation.leaseLeft))
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

        struct State: Encodable {
            var name: String
            var bytes: Int
            /// Of what is written, given up, or an earlier state that is still read.
            var otherBytes: Int
            var host: String?
            var pid: Int?
            var ageSeconds: Int?
            /// Absent for what stays for ever.
            var leftMilliseconds: Int?
            /// Who holds it.
            var holder: String?
        }

        var server: String
        var swept: Bool
        var generations: [Generation]
        var states: [State]

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
            states = report.states.map {
                State(
                    name: $0.name,
                    bytes: $0.bytes,
                    otherBytes: $0.otherBytes,
                    host: $0.host,
                    pid: $0.pid,
                    ageSeconds: $0.age,
                    leftMilliseconds: $0.left,
                    holder: $0.holder
                )
            }
        }
    }
}
#endif
