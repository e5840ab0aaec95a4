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
            rows.map { column < $0.count ? Self.width($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: max(widths[column] - Self.width(text), 0))
                return alignments[column] == .left ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// How many columns a text takes: colours take none.
    private static func width(_ text: String) -> Int {
        var count = 0
        var isEscape = false
        for character in text {
            if character == "\u{1B}" { isEscape = true }
            if !isEscape { count += 1 }
            if isEscape, character == "m" { isEscape = false }
        }
        return count
    }
}
