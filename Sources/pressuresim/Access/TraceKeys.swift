import Foundation
import ScenarioLanguage

/// A recorded series of keys, each replaced by the number of its first appearance.
struct TraceKeys: Sendable {
    /// One number for each access: 0 for the first key, 1 for the next new one, and so on.
    let numbers: [Int]
    /// How many different keys there are.
    let distinct: Int
    private let hasKeys: Bool

    /// Numbers the keys; empty lines and comments (`#`) are left out. Without any key there is one, 0.
    init(lines: some Sequence<Substring>) {
        var known: [Substring: Int] = [:]
        var numbers: [Int] = []
        for line in lines where !line.isEmpty && !line.hasPrefix("#") {
            let number = known[line] ?? known.count
            known[line] = number
            numbers.append(number)
        }
        hasKeys = !numbers.isEmpty
        self.numbers = hasKeys ? numbers : [0]
        distinct = max(known.count, 1)
    }

    /// Reads a file with one key a line.
    ///
    /// - Throws: ``ContentError`` when the file has no text or no keys.
    init(path: String) throws(ContentError) {
        // It may have grown since it was checked, or be a device that has no size and no end.
        guard let data = try? BoundedInput.read(path, atMost: PatternSpec.mostTraceBytes),
            let text = String(data: data, encoding: .utf8)
        else {
            throw ContentError(
                description:
                    "The trace \(path) is not a readable text file of at most 64 MiB; unpack it first (gunzip) if it is compressed."
            )
        }
        self.init(lines: text.split(whereSeparator: \.isNewline))
        guard hasKeys else { throw ContentError(description: "The trace \(path) has no keys.") }
    }
}

extension TraceKeys {
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
