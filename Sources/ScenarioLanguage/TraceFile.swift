import Foundation

/// A file of keys, one a line; empty lines and comments (`#`) are left out.
package enum TraceFile {
    /// The most bytes of one.
    package static let mostBytes = 64 << 20

    /// Why a file is none: what continues "a trace that …".
    package struct Refusal: Error, Hashable {
        package var reason: String
    }

    /// The keys, in order. At least one.
    package static func keys(_ path: String) throws(Refusal) -> [Substring] {
        let data: Data
        do throws(BoundedInput.Refusal) {
            data = try BoundedInput.read(path, atMost: mostBytes)
        } catch {
            switch error {
            case .unreadable(let reason): throw Refusal(reason: "cannot be read: \(reason)")
            case .tooLarge: throw Refusal(reason: "has more than \(mostBytes >> 20) MiB")
            }
        }
        // RFC 1952: the two bytes that every gzip file begins with.
        guard !data.starts(with: [0x1F, 0x8B]) else { throw Refusal(reason: "is compressed; unpack it first (gunzip)") }
        guard let text = String(data: data, encoding: .utf8) else {
            throw Refusal(reason: "is no text in UTF-8, in line \(data.firstLineThatIsNoText ?? 1)")
        }
        let keys = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }
        guard !keys.isEmpty else { throw Refusal(reason: "has no keys") }
        guard !text.utf8.contains(0) else { throw Refusal(reason: "is no text: it has bytes that are zero") }
        return keys
    }
}

extension Data {
    /// The number of the first line that is not UTF-8, from 1.
    var firstLineThatIsNoText: Int? {
        split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .firstIndex { String(data: $0, encoding: .utf8) == nil }.map { $0 + 1 }
    }
}
