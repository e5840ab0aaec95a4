/// Writes the fields of a saved state behind each other: numbers little-endian, everything else behind its length.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write<Number: FixedWidthInteger>(_ number: Number) {
        var rest = number
        for _ in 0..<Number.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest = rest >> 8
        }
    }

    mutating func write(_ some: [UInt8]) {
        write(UInt32(some.count))
        bytes += some
    }

    mutating func write(_ text: String) { write(Array(text.utf8)) }
}

/// Reads them back. Never past the end, and never more than there is, whatever a length claims.
struct StateReader {
    private let bytes: ArraySlice<UInt8>
    private var next: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        next = bytes.startIndex
    }

    /// The bytes that are left.
    var left: Int { bytes.endIndex - next }

    /// - Throws: `damaged` when there is no whole number left.
    mutating func read<Number: FixedWidthInteger>(_ type: Number.Type) throws(StateRefusal) -> Number {
        let width = Number.bitWidth / 8
        guard left >= width else { throw .damaged("it ends too early") }
        var number: Number = 0
        for index in stride(from: next + width - 1, through: next, by: -1) {
            number = width > 1 ? number << 8 | Number(truncatingIfNeeded: bytes[index]) : Number(bytes[index])
        }
        next += width
        return number
    }

    mutating func readBytes() throws(StateRefusal) -> [UInt8] {
        let count = Int(try read(UInt32.self))
        guard left >= count else { throw .damaged("a field is longer than the file") }
        defer { next += count }
        return Array(bytes[next..<next + count])
    }

    mutating func readString() throws(StateRefusal) -> String {
        guard let text = String(validating: try readBytes(), as: UTF8.self) else {
            throw .damaged("a string is not UTF-8")
        }
        return text
    }

    /// A number of things of which each takes `width` bytes at least.
    mutating func readCount(width: Int) throws(StateRefusal) -> Int {
        let count = Int(try read(UInt32.self))
        guard count <= left / max(1, width) else { throw .damaged("a list is longer than the file") }
        return count
    }
}

/// Why a saved state is not used, any of it.
enum StateRefusal: Error, Hashable {
    /// The file is not what was written; how that shows.
    case damaged(String)
    /// The file was not written by this library.
    case foreign
    /// The file was written by a later version of this library.
    case future(UInt32)
    /// The file was written by an earlier version of this library, in a format that is not read any more.
    case past(UInt32)
    /// The file was written by another version of the app, which did not want it.
    case version(String)
    /// The delegate did not want it.
    case vetoed
}
