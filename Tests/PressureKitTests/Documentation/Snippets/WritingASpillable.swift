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

/// What a user has drawn.
struct Sketch: Codable, CodedSpillable {
    var title: String
    var strokes: [[Float]]
    var tags: [String: Int]
}

/// Lines of text, each a string of its own.
struct Document: EncodedSpillable {
    var lines: [String]

    func writeSpillBytes(to writer: SpillWriter) throws {
        for line in lines { try writer.write("\(line)\n") }
    }

    init(spillBytes: RawSpan) throws {
        let bytes = unsafe spillBytes.withUnsafeBytes { unsafe Array($0) }
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    init(lines: [String]) { self.lines = lines }
}
