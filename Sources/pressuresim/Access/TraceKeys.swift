import Foundation
import SampleContent
import ScenarioLanguage

/// A recorded series of keys, each replaced by the number of its first appearance.
struct TraceKeys: Sendable {
    /// One number for each access: 0 for the first key, 1 for the next new one, and so on.
    let numbers: [Int]
    /// How many different keys there are.
    let distinct: Int

    /// Numbers the keys. Without any there is one, 0.
    init(keys: some Sequence<Substring>) {
        var known: [Substring: Int] = [:]
        var numbers: [Int] = []
        for key in keys {
            let number = known[key] ?? known.count
            known[key] = number
            numbers.append(number)
        }
        self.numbers = numbers.isEmpty ? [0] : numbers
        distinct = max(known.count, 1)
    }

    /// Reads a file with one key a line.
    ///
    /// - Throws: ``ContentError`` when it is none: it may have changed since it was checked.
    init(path: String) throws(ContentError) {
        do throws(TraceFile.Refusal) {
            self.init(keys: try TraceFile.keys(path))
        } catch {
            throw ContentError(description: "The trace \(path) \(error.reason).")
        }
    }
}

extension TraceKeys {
    /// The files of the traces that a scenario names.
    static func paths(of scenario: Scenario, file: String) -> [String] {
        (names(in: scenario.timeline) + scenario.controllers.flatMap(\.columnTraces))
            .map { ScenarioPaths.resolve($0, from: file) }
    }

    /// The traces that a scenario's steps name, by the name they have there.
    ///
    /// - Throws: ``ContentError`` when one cannot be read.
    static func all(of scenario: Scenario, file: String) throws(ContentError) -> [String: TraceKeys] {
        var traces: [String: TraceKeys] = [:]
        for name in names(in: scenario.timeline) where traces[name] == nil {
            traces[name] = try TraceKeys(path: ScenarioPaths.resolve(name, from: file))
        }
        return traces
    }

    private static func names(in steps: [Step]) -> [String] {
        steps.flatMap { step -> [String] in
            switch step.action {
            case .access(let spec), .update(let spec), .browse(let spec):
                if case .trace(let name) = spec.pattern { [name] } else { [] }
            case .together(let steps): names(in: steps)
            default: []
            }
        }
    }
}
