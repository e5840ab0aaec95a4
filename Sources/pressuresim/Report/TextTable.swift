/// Columns of text.
struct TextTable {
    /// Where a column's text stands.
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var rows: [[String]] = []

    init(_ alignments: [Alignment]) { self.alignments = alignments }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// The rows as lines, columns two spaces apart, nothing behind the last.
    var lines: [String] { rows.map { line($0, widths) } }

    private var widths: [Int] {
        alignments.indices.map { column in
            rows.map { column < $0.count ? Wrapping.width($0[column]) : 0 }.max() ?? 0
        }
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, text in
            let padding = String(repeating: " ", count: max(widths[column] - Wrapping.width(text), 0))
            return alignments[column] == .left ? text + padding : padding + text
        }
        let line = cells.joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: Where there is little room

    /// What prose in a last column needs to be read.
    private static let leastProse = 20

    /// The same for a terminal of so many columns, a text for each row, which may be several lines.
    ///
    /// Prose in the last column is broken between its words. A table of figures that is too wide becomes a line for each
    /// row's name, and below it each figure after its column's.
    ///
    /// - Parameter hasHeader: whether the first row names the columns. It becomes an empty text where each figure has its name.
    func lines(fitting columns: Int?, hasHeader: Bool = false) -> [String] {
        let widths = widths
        let all = widths.reduce(0, +) + 2 * max(widths.count - 1, 0)
        guard let columns, all > columns, alignments.count > 1 else { return lines }
        let before = all - (widths.last ?? 0)
        if alignments.last == .left, before + Self.leastProse <= columns {
            return rows.map { prose($0, widths, at: before, columns) }
        }
        guard hasHeader, let names = rows.first else {
            return lines.map { Wrapping.wrapped($0, to: columns) }
        }
        return [""] + rows.dropFirst().map { figures($0, names, columns) }
    }

    /// A row whose last cell goes on below itself.
    private func prose(_ row: [String], _ widths: [Int], at place: Int, _ columns: Int) -> String {
        guard row.count == alignments.count, let last = row.last else { return line(row, widths) }
        let room = Wrapping.wrapped(last, to: columns - place).split(separator: "\n")
        // What goes on stands below its beginning, not two further in.
        let parts = room.map { $0.drop { $0 == " " } }
        let indent = String(repeating: " ", count: place)
        return
            ([line(Array(row.dropLast()) + [String(parts.first ?? "")], widths)] + parts.dropFirst().map { indent + $0 })
            .joined(separator: "\n")
    }

    /// A row's name, and below it its figures with the names of their columns; no figure is parted from its name.
    private func figures(_ row: [String], _ names: [String], _ columns: Int) -> String {
        var lines = [row.first ?? ""]
        var current = ""
        for (name, cell) in zip(names, row).dropFirst() where !cell.allSatisfy({ $0 == " " }) {
            let pair = "\(name.trimmed) \(cell.trimmed)"
            let length = Wrapping.width(current) + Wrapping.width(pair) + 2
            if !current.isEmpty, length > columns {
                lines.append(current)
                current = ""
            }
            current += "  \(pair)"
        }
        return (lines + (current.isEmpty ? [] : [current])).joined(separator: "\n")
    }
}

extension String {
    /// Without blanks at either end.
    fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
