import Foundation
import Glibc

/// Lines that are broken between words, where a terminal would break them anywhere.
enum Wrapping {
    /// The text with no line longer than `columns`, where words allow that. What goes on is indented by two more than its
    /// line begins with. Colours take no room; `nil` leaves everything as it is.
    static func wrapped(_ text: String, to columns: Int?) -> String {
        guard let columns, columns > 0 else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            width(line) <= columns ? String(line) : broken(line, columns)
        }.joined(separator: "\n")
    }

    private static func broken(_ line: Substring, _ columns: Int) -> String {
        let blanks = line.prefix { $0 == " " }.count
        // A word needs some room too.
        let indent = String(repeating: " ", count: min(blanks + 2, columns / 3))
        var lines: [String] = []
        var current = String(repeating: " ", count: min(blanks, columns / 3))
        var (isEmpty, used) = (true, current.count)
        // What stood in columns does so no more: two blanks are enough to tell one from the next.
        var gap = ""
        for piece in line.dropFirst(blanks).split(separator: " ", omittingEmptySubsequences: false) {
            guard !piece.isEmpty else {
                if gap.count < 2 { gap += " " }
                continue
            }
            let length = width(piece)
            if !isEmpty, used + gap.count + length > columns {
                lines.append(current)
                (current, used) = (indent, indent.count)
                gap = ""
            }
            current += (isEmpty ? "" : gap) + piece
            used += (isEmpty ? 0 : gap.count) + length
            isEmpty = false
            gap = " "
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// How many columns a text takes: colours take none.
    static func width(_ text: some StringProtocol) -> Int {
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

extension Terminal {
    /// The columns of a descriptor's terminal, or those that `COLUMNS` names: `nil` where lines may be as long as they like.
    static func columns(
        of descriptor: Int32,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Int? {
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        // The kernel fills in the structure it is given.
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
