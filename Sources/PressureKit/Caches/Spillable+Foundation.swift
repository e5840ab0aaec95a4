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

/// Any `Codable` value as a ``Spillable`` one: encoded when it is spilled, decoded when it is restored.
///
/// ```swift
/// let session = try controller.cache("session", initialValue: Coded(Session()))
/// try session.withValue { $0.value.user }
/// ```
///
/// Encoding allocates in the middle of a reclaim, and the planner has to guess the memory that the value takes: state
/// `footprint` if you know it. For large values a conformance of your own is better.
public struct Coded<Value: Codable & Sendable>: Spillable {
    /// The value itself.
    public var value: Value
    private let statedFootprint: Int?

    /// Wraps a value. `footprint` is the memory it takes in bytes; without it the length of its encoding is assumed.
    public init(_ value: Value, footprint: ByteCount? = nil) {
        self.value = value
        statedFootprint = footprint?.bytes
    }

    /// The length of the encoding, which is made to find out; zero for a value that cannot be encoded.
    public var spillByteCount: Int { encoded?.count ?? 0 }

    /// What was stated, else the length of the encoding.
    public var footprint: Int { statedFootprint ?? spillByteCount }

    /// A value that cannot be encoded, such as a not-a-number, stays in memory.
    public func withSpillBytes(_ body: (RawSpan) -> Void) {
        guard let encoded else { return }
        body(encoded.bytes)
    }

    /// - Throws: what `fill` throws, or `DecodingError`.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let data = unsafe try Data(spillByteCount: spillByteCount, restoringWith: fill)
        let envelope = try JSONDecoder().decode(Envelope.self, from: data)
        self.value = envelope.value
        self.statedFootprint = envelope.footprint
    }

    /// A top-level object, since not every coder accepts a bare number or string.
    private struct Envelope: Codable {
        let value: Value
        let footprint: Int?
    }

    private var encoded: Data? {
        let encoder = JSONEncoder()
        // So that equal dictionaries are equal bytes.
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(Envelope(value: value, footprint: statedFootprint))
    }
}
#endif
