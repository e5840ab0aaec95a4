import Foundation

/// A file of keys, one a line, packed by gzip or not; empty lines and comments (`#`) are left out. What follows a tab is of
/// ``TraceColumns``.
package enum TraceFile {
    /// The most bytes of one, packed and unpacked.
    package static let mostBytes = 64 << 20

    /// Why a file is none: what continues "a trace that …".
    package struct Refusal: Error, Hashable {
        package var reason: String
    }

    /// One access.
    struct Line {
        /// From 1.
        var number: Int
        var key: Substring
        /// What follows it, between tabs.
        var columns: [Substring]
    }

    /// The keys, in order. At least one.
    package static func keys(_ path: String) throws(Refusal) -> [Substring] {
        try text(path).lines.map { $0.text.prefix { $0 != "\t" } }
    }

    /// The same with their columns.
    static func lines(_ path: String) throws(Refusal) -> [Line] {
        try text(path).lines.map { number, text in
            let columns = text.split(separator: "\t", omittingEmptySubsequences: false)
            return Line(number: number, key: columns[0], columns: Array(columns.dropFirst()))
        }
    }

    private static func text(_ path: String) throws(Refusal) -> String {
        var data: Data
        do throws(BoundedInput.Refusal) {
            data = try BoundedInput.read(path, atMost: mostBytes)
        } catch {
            switch error {
            case .unreadable(let reason): throw Refusal(reason: "cannot be read: \(reason)")
            case .tooLarge: throw Refusal(reason: "has more than \(mostBytes >> 20) MiB")
            }
        }
        if Gunzip.isPacked(data) { data = try unpack(data) }
        guard let text = String(data: data, encoding: .utf8) else {
            throw Refusal(reason: "is no text in UTF-8, in line \(data.firstLineThatIsNoText ?? 1)")
        }
        guard !text.lines.isEmpty else { throw Refusal(reason: "has no keys") }
        guard !text.utf8.contains(0) else { throw Refusal(reason: "is no text: it has bytes that are zero") }
        return text
    }

    private static func unpack(_ data: Data) throws(Refusal) -> Data {
        do {
            return try Gunzip.unpack(data, atMost: mostBytes)
        } catch {
            switch error {
            case .damaged: throw Refusal(reason: "is compressed by gzip, and damaged")
            case .tooLarge: throw Refusal(reason: "unpacks to more than \(mostBytes >> 20) MiB")
            }
        }
    }
}

extension String {
    /// Those that are neither empty nor comments, with their numbers from 1.
    fileprivate var lines: [(number: Int, text: Substring)] {
        split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .filter { !$0.element.isEmpty && !$0.element.hasPrefix("#") }.map { ($0.offset + 1, $0.element) }
    }
}

extension Data {
    /// The number of the first line that is not UTF-8, from 1.
    var firstLineThatIsNoText: Int? {
        split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .firstIndex { String(data: $0, encoding: .utf8) == nil }.map { $0 + 1 }
    }
}
