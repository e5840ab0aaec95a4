import Foundation

/// Whether and how text is coloured.
struct Style: Sendable {
    let isColoured: Bool

    /// Never coloured.
    static let plain = Style(isColoured: false)

    /// Coloured on a terminal that can, unless `NO_COLOR` is set to anything (https://no-color.org).
    static func detect(
        isTerminal: Bool,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Style {
        let refused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Style(isColoured: isTerminal && !refused && environment["TERM"] != "dumb")
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func good(_ text: String) -> String { wrap(text, "32") }
    func bad(_ text: String) -> String { wrap(text, "1;31") }

    private func wrap(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Columns of text.
struct TextTable {
    /// Where a column's text stands.
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var rows: [[String]] = []

    init(_ alignments: [Alignment]) { self.alignments = alignments }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// The rows as lines, columns two spaces apart, nothing behind the last.
    var lines: [String] {
        let widths = alignments.indices.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: max(widths[column] - text.count, 0))
                return alignments[column] == .left ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
