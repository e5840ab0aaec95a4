import Foundation
import Yams

/// A line of `expect`: a figure and what it has to be.
package struct Expectation: Hashable, Sendable {
    package var figure: Figure
    /// Whose reads are meant.
    package var part = Part.all
    var comparison: Comparison
    /// The right-hand side in the figure's base unit.
    package var bound: Double
    /// The line as it was written, such as `lost == 0`.
    package var text: String
    package var position: Position

    /// Caches may be spoken of by so many patterns.
    package static let mostPatterns = 64

    /// A part of a run.
    package enum Part: Hashable, Sendable {
        case all
        case phase(String)
        /// Those of the caches that match.
        case caches(PathGlob)

        /// For the line, in front of the figure.
        var prefix: String {
            switch self {
            case .all: ""
            case .phase(let name): "\(name): "
            case .caches(let glob): "\(glob): "
            }
        }

        /// For messages, behind the figure.
        var suffix: String {
            switch self {
            case .all: ""
            case .phase: " for a phase"
            case .caches: " for caches"
            }
        }
    }

    /// How the figure is held against the bound.
    enum Comparison: String, CaseIterable, Sendable {
        // Those with two characters first: the reader takes the first that fits.
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"

        /// Whether `value` satisfies the comparison. Nothing satisfies one with a number that is not one.
        func holds(_ value: Double, _ bound: Double) -> Bool {
            switch self {
            case .equal: value == bound
            case .unequal: value != bound && !value.isNaN
            case .atMost: value <= bound
            case .atLeast: value >= bound
            case .below: value < bound
            case .above: value > bound
            }
        }
    }

    /// What became of an expectation.
    package struct Outcome: Hashable, Sendable {
        package var expectation: Expectation
        /// What was measured; `nil` when the run had nothing to measure it by.
        package var value: Double?

        /// Why the figure means nothing in this run, which then says nothing about the expectation; `nil` when it does.
        package var notMeasured: String?

        /// A figure that was never measured holds nothing: an expectation must not pass because nothing happened.
        package var holds: Bool {
            guard let value, notMeasured == nil else { return false }
            return expectation.comparison.holds(value, expectation.bound)
        }

        /// The same expectation, not held against a run for a reason.
        package func notJudged(_ reason: String) -> Outcome {
            Outcome(expectation: expectation, value: value, notMeasured: reason)
        }

        /// Whether the run has shown it to be wrong.
        package var isBroken: Bool { notMeasured == nil && !holds }
    }

    /// Holds the expectation against a run's figures, and knows which of them it cannot tell, and why.
    package func evaluate(_ figures: [Figure: Double], unmeasured: [Figure: String] = [:]) -> Outcome {
        Outcome(expectation: self, value: figures[figure], notMeasured: unmeasured[figure])
    }
}

extension Expectation {
    /// The whole `expect` mapping: `figure: comparison`, several comparisons joined by `and`.
    static var listForm: Form<[Expectation]> {
        Form("a mapping of figures to comparisons", schema: { $0.reference(to: "the expectations") { schema } }) {
            node,
            diagnostics in
            guard let mapping = node.mapping else {
                diagnostics.report(node, allowed: "figures with comparisons, such as lost: == 0")
                return nil
            }
            return mapping.flatMap { key, value in
                switch key.text {
                case "phases": readParts(value, Self.phases, diagnostics) { .phase($0.visible) }
                case "caches": readParts(value, Self.caches, diagnostics) { .caches(PathGlob($0)) }
                default: read(key: key, value: value, of: .all, diagnostics)
                }
            }
        }
    }

    private static let phases = (noun: "phases", example: "Rush: {hit_rate: \">= 90%\"}")
    private static let caches = (noun: "caches", example: "shop/tiles-*: {hit_rate: \">= 90%\"}")

    /// Figures of reads for each part: `phases: {Rush: {hit_rate: ">= 90%"}}`.
    private static func readParts(
        _ node: Node,
        _ words: (noun: String, example: String),
        _ diagnostics: Diagnostics,
        _ part: (String) -> Part
    ) -> [Expectation] {
        guard let parts = node.mapping else {
            diagnostics.report(node, allowed: "\(words.noun) with figures, such as \(words.example)")
            return []
        }
        return parts.flatMap { name, figures -> [Expectation] in
            guard let name = name.text, let mapping = figures.mapping else {
                diagnostics.report(figures, allowed: "figures of reads with comparisons, such as \(words.example)")
                return []
            }
            return mapping.flatMap { read(key: $0.key, value: $0.value, of: part(name), diagnostics) }
        }
    }

    private static var schema: OrderedJSON {
        let reads: OrderedJSON = [
            "type": "object", "additionalProperties": false,
            "properties": .object(properties(Figure.allCases.filter(\.isOfReads))),
        ]
        let parts: OrderedJSON = ["type": "object", "additionalProperties": reads]
        let all =
            properties(Figure.allCases) + [
                ("phases", parts.described("The same for the reads of a phase.")),
                ("caches", parts.described("The same for the reads of the caches that match.")),
            ]
        return ["type": "object", "additionalProperties": false, "properties": .object(all)]
    }

    private static func properties(_ figures: [Figure]) -> [(key: String, value: OrderedJSON)] {
        figures.map { figure -> (key: String, value: OrderedJSON) in
            // The ones that are longer go first: a reader takes the first that fits.
            let one = "(\(Comparison.allCases.map(\.rawValue).joined(separator: "|"))) *\(figure.unit.expression)"
            let help = "\(figure.meaning) (\(figure.unit.rawValue))"
            return (figure.rawValue, OrderedJSON.pattern("\(one)( and \(one))*").described(help))
        }
    }

    private static func read(
        key: Node,
        value: Node,
        of part: Part,
        _ diagnostics: Diagnostics
    ) -> [Expectation] {
        let names = Figure.allCases.filter { part == .all || $0.isOfReads }.map(\.rawValue)
        guard let figure = key.text.flatMap(Figure.init), names.contains(figure.rawValue) else {
            diagnostics.report(
                key,
                found: "unknown figure \(key.inWords)\(part.suffix)",
                allowed: names.joined(separator: ", "),
                suggestion: key.text.flatMap { Spelling.nearest(to: $0, among: names) }
            )
            return []
        }
        let operators = Comparison.allCases.map(\.rawValue).joined(separator: " ")
        let allowed = "a comparison (\(operators)) with \(figure.unit.example); several joined by \"and\""
        let parts = (value.text ?? "").components(separatedBy: " and ")
        let lines = parts.compactMap {
            read($0.trimmingCharacters(in: .whitespaces), figure, part, Position(value))
        }
        guard lines.count == parts.count else {
            diagnostics.report(value, allowed: allowed)
            return []
        }
        guard canHold(lines, figure) else {
            diagnostics.report(value, found: "\(value.inWords), which cannot be", allowed: figure.limits)
            return []
        }
        return lines
    }

    /// Whether any value of the figure satisfies all of the lines.
    private static func canHold(_ lines: [Expectation], _ figure: Figure) -> Bool {
        let range = figure.range
        let lows =
            lines.filter { [.equal, .atLeast, .above].contains($0.comparison) }.map(\.bound) + [range.lowerBound]
        let highs =
            lines.filter { [.equal, .atMost, .below].contains($0.comparison) }.map(\.bound) + [range.upperBound]
        guard let low = lows.max(), let high = highs.min(), low <= high else { return false }
        // Where only one value is left, nothing may exclude it.
        return low < high || lines.allSatisfy { $0.comparison.holds(low, $0.bound) }
    }

    private static func read(
        _ text: String,
        _ figure: Figure,
        _ part: Part,
        _ position: Position
    ) -> Expectation? {
        guard let comparison = Comparison.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return nil }
        let right = text.dropFirst(comparison.rawValue.count).trimmingCharacters(in: .whitespaces)
        guard let bound = figure.unit.value(right) else { return nil }
        return Expectation(
            figure: figure,
            part: part,
            comparison: comparison,
            bound: bound,
            text: "\(part.prefix)\(figure.rawValue) \(comparison.rawValue) \(right)",
            position: position
        )
    }
}
