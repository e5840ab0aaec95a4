/// A key of the app's: bytes that mean nothing here.
///
/// Messages and saved states have it as text: its own where it is UTF-8, else its bytes in hexadecimal behind a `#`. Text
/// that begins with a `#` is written in that way as well, so that each text stands for one key.
struct PluginKey: Hashable, Sendable, LosslessStringConvertible {
    /// The most bytes of a key: they are in memory for as long as its value is anywhere.
    static let mostBytes = 4096

    let bytes: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = unsafe Array(bytes) }

    init?(_ description: String) {
        let text = Array(description.utf8)
        guard text.first == UInt8(ascii: "#") else {
            bytes = text
            return
        }
        let digits = text.dropFirst().compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.count - 1, digits.count.isMultiple(of: 2) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var description: String {
        if bytes.first != UInt8(ascii: "#"), let text = String(validating: bytes, as: UTF8.self) { return text }
        let digits = Array("0123456789abcdef")
        return bytes.reduce(into: "#") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }
}
