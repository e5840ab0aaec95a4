public import PressureSystem

/// How a ``Coded`` value is written.
public enum SpillCoding: Hashable, Sendable {
    /// In a format of the library's own: compact, quick, in pieces. Every number comes back as it was, with infinities and
    /// not-a-numbers.
    case binary
    #if Foundation
    /// As JSON: for a type that can only be encoded so. Several times as slow, made as a whole in memory, and without
    /// not-a-numbers. Package trait `Foundation`.
    case json
    #endif
}

/// Any `Codable` value as a ``Spillable`` one: encoded when it is spilled or saved, decoded when it is restored, and left
/// alone when it is loaded, read or changed.
///
/// ```swift
/// let session = try controller.cache("session", initialValue: Coded(Session()))
/// try session.withValue { $0.value.user }
/// try session.update { $0.value.visits += 1 }
/// ```
///
/// A type of your own needs no wrapper: see ``CodedSpillable``.
///
/// Encoding goes on in the middle of a reclaim, and allocates what the value's `encode(to:)` does. The bytes are never in
/// memory as a whole: 256 KiB of them, and a list of the keys of the `Dictionary` or `Set` being written, which are written
/// in order. Decoding has all of the bytes beside the value, in pages that are given back at once. Arrays of numbers go at the
/// speed of memory; structs take about a microsecond each. What is asked for by `nestedContainer` or `superEncoder` is kept
/// until the value around it is encoded.
///
/// Equal values become equal bytes. Values that lie more than 512 deep in each other cannot be encoded: such a value stays
/// in memory, and the report says so.
public struct Coded<Value: Codable & Sendable>: EncodedSpillable {
    /// The value itself.
    public var value: Value
    /// How it is written. A copy says itself how it was.
    public let coding: SpillCoding
    private let statedFootprint: Int?

    /// Wraps a value. `footprint` is the memory it takes in bytes; without it, that is estimated from a sample of its parts,
    /// now and then (``Spillable/footprint``).
    public init(_ value: Value, footprint: ByteCount? = nil, coding: SpillCoding = .binary) {
        self.value = value
        self.coding = coding
        statedFootprint = footprint?.bytes
    }

    /// What was stated, else an estimate. Nothing is encoded for it.
    public var footprint: Int { statedFootprint ?? FootprintEstimate.bytes(of: value) }

    /// - Throws: what encoding throws: the value stays in memory then.
    public func writeSpillBytes(to writer: SpillWriter) throws {
        switch coding {
        case .binary:
            try writer.write(byte: Self.mark)
            // One more, so that zero is none.
            try writer.writeLength(statedFootprint.map { max(0, $0) + 1 } ?? 0)
            try ItemEncoder.encode(value, to: writer)
        #if Foundation
        case .json: try CodedJSON.encode(value, footprint: statedFootprint, to: writer)
        #endif
        }
    }

    /// - Throws: `DecodingError`.
    public init(spillBytes: RawSpan) throws {
        // They outlive the decoding.
        (value, statedFootprint, coding) = try unsafe spillBytes.withUnsafeBytes { bytes in
            guard unsafe bytes.first == Self.mark else { return try unsafe Self.decodeOther(bytes) }
            let reader = unsafe ItemReader(bytes)
            guard let (stated, start) = try? reader.length(at: 1) else { throw DecodingError.notAValue }
            let value = try unsafe ItemDecoder.decode(Value.self, from: bytes, at: start)
            return (value, stated > 0 ? stated - 1 : nil, .binary)
        }
    }

    private static func decodeOther(_ bytes: UnsafeRawBufferPointer) throws -> (Value, Int?, SpillCoding) {
        #if Foundation
        // JSON, and what earlier versions have saved.
        if unsafe bytes.first == UInt8(ascii: "{") {
            let (value, footprint) = try unsafe CodedJSON.decode(Value.self, from: bytes)
            return (value, footprint, .json)
        }
        #endif
        throw DecodingError.notAValue
    }

    /// The first byte; no other ``SpillCoding`` begins with it.
    private static var mark: UInt8 { 0xC1 }
}

extension DecodingError {
    /// The bytes are not even the beginning of those of a value.
    static var notAValue: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "The bytes are not those of a value."))
    }
}
