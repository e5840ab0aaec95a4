#if Foundation
public import FoundationEssentials
import PressureSystem

/// `Data` spills its bytes.
extension Data: Spillable {
    /// The number of bytes.
    public var spillByteCount: Int { count }

    /// Passes the bytes where they lie.
    public func withSpillBytes(_ body: (RawSpan) -> Void) { body(bytes) }

    /// - Throws: what `fill` throws.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        self.init(count: spillByteCount)
        unsafe try withUnsafeMutableBytes { unsafe try fill($0) }
    }

    /// The bytes are there already.
    public static var spillsInPlace: Bool { true }
}

extension Data: HeapSized, ItemEncodable, ItemDecodable {
    func heapBytes(_ estimate: inout FootprintEstimate) -> Int {
        // Up to fourteen bytes are in the value itself; others have an object beside them (swift-foundation, Data.swift).
        count <= 14 ? 0 : FootprintEstimate.block(count) + 96
    }

    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        try writer.beginPacked(.uint8, count: count)
        try writer.write(bytes)
    }

    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try Data([UInt8](readingItem: &place, by: decoder, key: key))
    }
}

/// JSON, for ``Coded`` values that ask for it.
enum CodedJSON {
    /// A top-level object, since not every coder accepts a bare number or string.
    private struct Envelope<Value: Codable>: Codable {
        let value: Value
        let footprint: Int?
    }

    static func encode(_ value: some Codable, footprint: Int?, to writer: SpillWriter) throws {
        let encoder = JSONEncoder()
        // So that equal dictionaries are equal bytes.
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(Envelope(value: value, footprint: footprint))
        try writer.write(json.bytes)
    }

    static func decode<Value: Codable>(
        _ type: Value.Type,
        from bytes: UnsafeRawBufferPointer
    ) throws -> (value: Value, footprint: Int?) {
        // Copied: JSONDecoder takes no less.
        let envelope = try JSONDecoder().decode(Envelope<Value>.self, from: unsafe Data(bytes))
        return (envelope.value, envelope.footprint)
    }
}
#endif
