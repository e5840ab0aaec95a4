/// A `Codable` type of your own that can be spilled as it is, in one line.
///
/// ```swift
/// struct Document: Codable, CodedSpillable {
///     var title: String
///     var lines: [String]
/// }
///
/// let document = try controller.cache("document") { try Document(reading: file) }
/// ```
///
/// It is encoded as ``Coded`` does it: when it is spilled or saved, in pieces, equal values to equal bytes. State
/// ``Spillable/footprint`` if you know better what the value takes than a sample of its parts tells.
///
/// A saved state outlives the process, and may be read by a later version of the app. Properties that are added as optional
/// ones, or taken away, are no trouble, as with any coder; after another change give ``spillVersion`` a new number. A value
/// that an old version has saved is not read then: a loader makes it anew, and where there is none, its readers get a
/// `DecodingError` that says so. Or read old ones, too:
///
/// ```swift
/// static let spillVersion = 2
/// static let readableSpillVersions = 1...2
///
/// init(from decoder: any Decoder) throws {
///     if decoder.userInfo[.spillVersion] as? Int == 1 { … }
/// }
/// ```
public protocol CodedSpillable: EncodedSpillable, Codable {
    /// Which version of the type writes the bytes; 0 unless you say so. Not below zero.
    static var spillVersion: Int { get }

    /// The versions whose bytes can be read; its own unless you say so.
    static var readableSpillVersions: ClosedRange<Int> { get }
}

extension CodingUserInfoKey {
    /// Under which a ``CodedSpillable`` type that is being decoded finds the version that has written it, an `Int`.
    public static var spillVersion: CodingUserInfoKey {
        // Every string makes one.
        CodingUserInfoKey(rawValue: "pressurekit.spillVersion")!
    }
}

extension CodedSpillable {
    /// The first.
    public static var spillVersion: Int { 0 }

    /// Its own.
    public static var readableSpillVersions: ClosedRange<Int> { spillVersion...spillVersion }

    /// - Throws: what encoding throws: the value stays in memory then.
    public func writeSpillBytes(to writer: SpillWriter) throws {
        try writer.write(byte: codedSpillableMark)
        try writer.writeLength(max(0, Self.spillVersion))
        try ItemEncoder.encode(self, to: writer)
    }

    /// - Throws: `DecodingError`.
    public init(spillBytes: RawSpan) throws {
        // They outlive the decoding.
        self = try unsafe spillBytes.withUnsafeBytes { bytes in
            let reader = unsafe ItemReader(bytes)
            guard unsafe bytes.first == codedSpillableMark, let (version, start) = try? reader.length(at: 1) else {
                throw DecodingError.notAValue
            }
            guard Self.readableSpillVersions.contains(version) else {
                let text = "Written by version \(version) of \(Self.self), which reads \(Self.readableSpillVersions)."
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
            }
            return try unsafe ItemDecoder.decode(
                Self.self,
                from: bytes,
                at: start,
                userInfo: [.spillVersion: version]
            )
        }
    }
}

/// The first byte; that of ``Coded`` is another.
private let codedSpillableMark: UInt8 = 0xC2
