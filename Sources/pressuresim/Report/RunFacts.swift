import Foundation
import SampleContent
import ScenarioLanguage

/// What a run wrote with `--json`, as far as other commands read it.
struct RunFacts: Decodable {
    struct ScenarioPart: Decodable {
        var name: String
        var file: String
        var seed: UInt64
    }

    struct FigurePart: Decodable {
        var value: Double?
        var unit: String
    }

    struct LossPart: Decodable {
        var path: String
        var reason: String
    }

    /// One of several processes.
    struct NeighbourPart: Decodable {
        var process: Int
        var end: String
    }

    struct ExpectationPart: Decodable {
        var expectation: String
        var line: Int
        var value: Double?
        var holds: Bool
        var notMeasured: String?
    }

    var formatVersion: Int
    var passed: Bool
    var clock: String
    var interrupted: Bool
    var scenario: ScenarioPart
    var figures: [String: FigurePart]
    var losses: [LossPart]
    var expectations: [ExpectationPart]
    /// `nil` where there was one.
    var neighbours: [NeighbourPart]?

    /// What a figure was; `nil` if it was not measured, or the run was of a tool that did not know it.
    subscript(figure: Figure) -> Double? { figures[figure.rawValue]?.value }

    /// - Throws: ``ContentError`` when it is none.
    static func read(_ path: String) throws(ContentError) -> RunFacts {
        let data: Data
        do throws(BoundedInput.Refusal) {
            data = try BoundedInput.read(path, atMost: 64 << 20)
        } catch {
            let reason =
                switch error {
                case .tooLarge: "has more than 64 MiB"
                case .unreadable(let reason): "cannot be read: \(reason)"
                }
            throw ContentError(description: "\(path) \(reason).")
        }
        return try RunFacts(data, file: path)
    }
}

extension RunFacts {
    /// Reads them from JSON; `file` is for messages.
    init(_ data: Data, file: String) throws(ContentError) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let facts = try? decoder.decode(Self.self, from: data), facts.formatVersion == 1 else {
            throw ContentError(description: "\(file) is not what pressuresim run --json writes.")
        }
        self = facts
    }
}
