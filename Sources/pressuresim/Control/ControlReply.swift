import Foundation
import PressureKit

/// An answer of a control socket. Members that are new there do no harm here.
struct ControlReply: Decodable {
    /// The end of a reclaim, or of a restore.
    struct Report: Decodable {
        var cause: String?
        var claimedBytes: Int?
        var returnedBytes: Int?
        var evicted: Int?
        var restored: Int?
        var restoredBytes: Int?
        var skipped: Int?
        var left: Int?
        var failures: Int
        var milliseconds: Double
    }

    struct Status: Decodable {
        struct Headroom: Decodable {
            var availableBytes: Int?
            var reclaimableBytes: Int?
            var limitBytes: Int?
        }

        struct Use: Decodable {
            var values: Int
            var copies: Int
            /// `nil` from a process that was built before it was told apart.
            var heap: Int?
            var process: Int
            var others: Int
            var pageCache: Int
            var free: Int
        }

        struct Tiers: Decodable {
            var processResident: Int
            var resident: Int
            var clean: Int
            var compressed: Int
            var compressedInMemory: Int
            var spilled: Int
            var stored: Int
            var spillFile: Int?
            /// `nil` from a process that was built before there was any.
            var demoted: Int?
        }

        struct Counts: Decodable {
            var controllers: Int
            var caches: Int
            var loads: Int
            var restores: Int
            var evictions: Int
            var refaults: Int
            var failures: Int
        }

        struct Signal: Decodable {
            var origin: String
            var source: String
            var state: String
        }

        struct Controller: Decodable {
            var path: String
            var visible: Bool
            var caches: [Cache]
        }

        struct Cache: Decodable {
            var path: String
            var residency: String
            var resident: Int
            var compressed: Int
            var spilled: Int
            var pins: Int
            var evictions: Int
            var restores: Int
            var refaults: Int
            var failures: Int
        }

        struct Neighbours: Decodable {
            var count: Int
            var held: Int
            var budget: Int
        }

        struct LeftOut: Decodable {
            var controllers: Int
            var caches: Int
        }

        var process: Int
        var level: String
        var score: Double
        var cause: String?
        var background: Bool
        var headroom: Headroom
        var use: Use?
        var neighbours: Neighbours?
        var bytes: Tiers
        var counts: Counts
        var signals: [Signal]
        var controllers: [Controller]
        var leftOut: LeftOut
    }

    var `protocol`: Int
    var ok: Bool
    var error: String?
    var message: String?
    var report: Report?
    var status: Status?

    /// Reads an answer.
    ///
    /// - Throws: ``ControlFailure`` when it is none, is of a protocol that is not known here, or refuses.
    static func read(_ answer: Data, from target: ControlTarget) throws(ControlFailure) -> ControlReply {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Version: Decodable { var `protocol`: Int }
        guard let version = try? decoder.decode(Version.self, from: answer) else {
            throw ControlFailure("What answers at \(target.name) is no control socket of PressureKit's.")
        }
        guard version.protocol == ControlAnswer.version, let reply = try? decoder.decode(Self.self, from: answer) else {
            throw ControlFailure(
                "\(target.name) speaks version \(version.protocol) of the protocol, and this tool version \(ControlAnswer.version). Use the tool of the version that the process was built with."
            )
        }
        guard reply.ok else {
            throw ControlFailure("\(target.name) refuses: \(reply.message ?? reply.error ?? "it does not say why")")
        }
        return reply
    }

    /// The facts as every command writes them, without what only belongs to the conversation.
    static func json(_ answer: Data) throws -> Data {
        guard var object = try JSONSerialization.jsonObject(with: answer) as? [String: Any] else { return answer }
        object["protocol"] = nil
        object["ok"] = nil
        object["format_version"] = 1
        object["tool_version"] = ToolVersion.current
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try JSONSerialization.data(withJSONObject: object, options: options) + Data("\n".utf8)
    }
}
