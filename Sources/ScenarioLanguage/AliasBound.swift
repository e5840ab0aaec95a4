/// How much the aliases of a YAML text may stand for, told without following them.
///
/// A few lines of aliases of aliases stand for billions of values, and the parser hashes those that are keys before
/// anybody can count them. With `c` aliases of an anchor the text grows at most `1 + c` times, and all anchors together
/// multiply: a bound that needs no parser. What looks like an alias in a text or a comment is counted too, if there is
/// an anchor of its name.
enum AliasBound {
    /// As much as honest scenarios need, some times over.
    static let most = 4096

    /// Whether the aliases let the text grow at most ``most`` times.
    static func holds(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let anchors = names(after: UInt8(ascii: "&"), in: bytes)
        guard !anchors.isEmpty else { return true }
        var growth = 1
        for (name, count) in names(after: UInt8(ascii: "*"), in: bytes) where anchors[name] != nil {
            let (product, isTooMuch) = growth.multipliedReportingOverflow(by: 1 + count)
            guard !isTooMuch, product <= most else { return false }
            growth = product
        }
        return true
    }

    /// The names that follow a mark, with how often they do.
    private static func names(after mark: UInt8, in bytes: [UInt8]) -> [ArraySlice<UInt8>: Int] {
        var names: [ArraySlice<UInt8>: Int] = [:]
        for index in bytes.indices where bytes[index] == mark {
            // As libyaml has them: letters, digits, _ and -; and no slash or star, which globs go on with.
            let name = bytes[(index + 1)...].prefix { isLetter($0) }
            if !name.isEmpty { names[name, default: 0] += 1 }
        }
        return names
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
