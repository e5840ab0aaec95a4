/// How much the aliases of a YAML text may stand for, told without following them.
///
/// A few lines of aliases of aliases stand for billions of values, and the parser hashes those that are keys before
/// anybody can count them. With `c` aliases of an anchor the text grows at most `1 + c` times, and all anchors together
/// multiply: a bound that needs no parser. What looks like an alias in a text or a comment is counted too, if there is
/// an anchor of its name.
enum AliasBound {
    /// As much as honest scenarios need, some times over.
    static let most = 4096

    /// The line with the alias from which on the text may grow more than ``most`` times, from 1; `nil` if it may not.
    static func excess(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        let anchors = Set(names(after: UInt8(ascii: "&"), in: bytes))
        guard !anchors.isEmpty else { return nil }
        var counts: [ArraySlice<UInt8>: Int] = [:]
        var growth = 1.0
        for name in names(after: UInt8(ascii: "*"), in: bytes) where anchors.contains(name) {
            let count = Double(counts[name, default: 0])
            counts[name, default: 0] += 1
            // The product of one more than each count, with this one.
            growth *= (2 + count) / (1 + count)
            // Not so near that rounding decides.
            if growth > Double(most) + 0.5 { return 1 + bytes[..<name.startIndex].count { $0 == UInt8(ascii: "\n") } }
        }
        return nil
    }

    /// The names that follow a mark, in their order.
    private static func names(after mark: UInt8, in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.indices.filter { bytes[$0] == mark }
            // As libyaml has them: letters, digits, _ and -; and no slash or star, which globs go on with.
            .map { index in bytes[(index + 1)...].prefix { isLetter($0) } }
            .filter { !$0.isEmpty }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
