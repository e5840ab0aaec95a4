import PressureKit

/// The number of columns in the first eight bytes, then the elements.
struct Matrix: Spillable {
    private var bytes: PageBuffer

    var spillByteCount: Int { bytes.spillByteCount }
    var footprint: Int { bytes.footprint }
    func withSpillBytes(_ body: (RawSpan) -> Void) { bytes.withSpillBytes(body) }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        bytes = unsafe try PageBuffer(spillByteCount: spillByteCount, restoringWith: fill)
    }

    static var spillsInPlace: Bool { true }

    init(columns: Int, rows: Int) {
        bytes = PageBuffer(byteCount: 8 + columns * rows * 4)
        unsafe bytes.withUnsafeMutableBytes { unsafe $0.storeBytes(of: UInt64(columns), as: UInt64.self) }
    }

    var columns: Int { bytes.withBytes { Int(unsafe $0.unsafeLoad(as: UInt64.self)) } }
}

/// Lines of text, each a string of its own.
struct Document: Spillable {
    var lines: [String]

    var spillByteCount: Int { lines.reduce(0) { $0 + $1.utf8.count + 1 } }
    var footprint: Int { lines.reduce(lines.capacity * 16) { $0 + $1.utf8.count + 32 } }

    func withSpillBytes(_ body: (RawSpan) -> Void) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(spillByteCount)
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        unsafe body(bytes.span.bytes)
    }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let bytes = unsafe try [UInt8](spillByteCount: spillByteCount, restoringWith: fill)
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    init(lines: [String]) { self.lines = lines }
}
