import PressureSystem

/// One JSON object in one line, written member by member. The library links no Foundation that could.
package struct JSONLine: Sendable {
    /// What was written, in UTF-8.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Writes the members of an object.
    package init(_ members: (inout JSONLine) -> Void) {
        group(123, 125, members)
    }

    /// A text.
    package mutating func member(_ key: String, _ value: String) {
        self.key(key)
        text(value)
    }

    /// A text, or nothing.
    package mutating func member(_ key: String, _ value: String?) {
        self.key(key)
        if let value { text(value) } else { raw("null") }
    }

    /// A whole number, or nothing.
    package mutating func member(_ key: String, _ value: Int?) {
        self.key(key)
        raw(value.map { "\($0)" } ?? "null")
    }

    /// A number of bytes, or nothing.
    package mutating func member(_ key: String, _ value: ByteCount?) { member(key, value?.bytes) }

    /// A number. What is not finite has no notation in JSON, and becomes `null`.
    package mutating func member(_ key: String, _ value: Double) {
        self.key(key)
        raw(value.isFinite ? "\(value)" : "null")
    }

    /// Whether something holds.
    package mutating func member(_ key: String, _ value: Bool) {
        self.key(key)
        raw(value ? "true" : "false")
    }

    /// An object.
    package mutating func member(_ key: String, _ members: (inout JSONLine) -> Void) {
        self.key(key)
        group(123, 125, members)
    }

    /// An array of objects, as long as `isEnough` does not say that there are enough of them.
    ///
    /// - Returns: how many were left out.
    @discardableResult
    package mutating func member<Element>(
        _ key: String,
        _ elements: [Element],
        until isEnough: (JSONLine, Element) -> Bool = { _, _ in false },
        _ members: (inout JSONLine, Element) -> Void
    ) -> Int {
        self.key(key)
        var left = 0
        group(91, 93) { json in
            for element in elements {
                if isEnough(json, element) {
                    left += 1
                    continue
                }
                json.comma()
                json.group(123, 125) { members(&$0, element) }
            }
        }
        return left
    }

    private mutating func group(_ opening: UInt8, _ closing: UInt8, _ body: (inout JSONLine) -> Void) {
        bytes.append(opening)
        needsComma = false
        body(&self)
        bytes.append(closing)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func key(_ key: String) {
        comma()
        text(key)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// RFC 8259: quotation mark, backslash and what is below a space are escaped.
    private mutating func text(_ text: String) {
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F: bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
