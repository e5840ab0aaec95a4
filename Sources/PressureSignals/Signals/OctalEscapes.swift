/// The escapes of /proc/self/mountinfo: a backslash and three octal digits stand for a byte. Pure.
enum OctalEscapes {
    /// The bytes without escapes, as text. A backslash that begins no escape stands for itself.
    static func decoded(_ bytes: some Collection<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let value = digits.reduce(0) { $0 * 8 + Int($1) - Int(UInt8(ascii: "0")) }
            if byte == UInt8(ascii: "\\"), digits.count == 3, value <= 0xFF,
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
            {
                result.append(UInt8(value))
                rest.removeFirst(3)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
