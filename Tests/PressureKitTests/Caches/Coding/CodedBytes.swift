import Testing

@testable import PressureKit

/// The items of a value, as `Coded` writes them.
func items(of value: some Encodable, pieces: Int = 256 << 10) throws -> [UInt8] {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieces, alignment: 16)
    // As long as this call.
    defer { unsafe piece.deallocate() }
    var bytes: [UInt8] = []
    let writer = unsafe SpillWriter(piece: piece) { passed in
        #expect(passed.count <= pieces)
        unsafe bytes += Array(passed)
    }
    try ItemEncoder.encode(value, to: writer)
    try writer.finish()
    #expect(writer.byteCount == bytes.count)
    return bytes
}

/// The value of items.
func value<Value: Decodable>(_ type: Value.Type, of items: [UInt8]) throws -> Value {
    // The array outlives the call.
    try unsafe items.withUnsafeBytes { unsafe try ItemDecoder.decode(type, from: $0, at: 0) }
}

/// A value of the bytes that it has spilled.
func restored<Value: EncodedSpillable>(_ type: Value.Type, of bytes: [UInt8]) throws -> Value {
    // The array outlives the call.
    try unsafe Value(spillBytes: bytes.span.bytes)
}

/// The bytes that a value passes.
func spillBytes(of value: some Spillable) -> [UInt8] {
    var bytes: [UInt8] = []
    // Read before it returns.
    value.withSpillBytes { span in unsafe span.withUnsafeBytes { unsafe bytes += Array($0) } }
    #expect(value.spillByteCount == bytes.count)
    return bytes
}
