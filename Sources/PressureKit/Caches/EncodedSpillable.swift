import PressureSystem

/// A value whose bytes are made when it is spilled or saved, a piece at a time, and never else.
///
/// ```swift
/// struct Document: EncodedSpillable {
///     var lines: [String]
///
///     func writeSpillBytes(to writer: SpillWriter) throws {
///         for line in lines { try writer.write("\(line)\n") }
///     }
///
///     init(spillBytes: RawSpan) throws { … }
/// }
/// ```
///
/// Loading, reading and changing such a value makes no bytes. While it is spilled, some 256 KiB of them are in memory at a
/// time; while it is restored, all of them. `Codable` types have all of this in one line, by ``CodedSpillable``.
///
/// Two values that are the same must make the same bytes: write what is in a `Set` or a `Dictionary` in an order of your own.
public protocol EncodedSpillable: Spillable {
    /// Makes the value from the bytes that it has written. They are valid until this returns.
    ///
    /// - Throws: an error of your own when the bytes make no value, which the reader gets.
    init(spillBytes: RawSpan) throws
}

extension EncodedSpillable {
    /// They are made when they are needed.
    public static var encodesWhenSpilled: Bool { true }

    /// An estimate, from a sample of the value's parts; state what you know better.
    ///
    /// Some ten microseconds, however large the value is. Asked after the first changes, and then whenever there have been half
    /// as many again. A part that is a class is taken for what its stored properties say; what several values share is counted
    /// with each of them. Of a tree of objects or of indirect cases only the first thousand are counted: state what a large
    /// one takes.
    public var footprint: Int { FootprintEstimate.bytes(of: self) }

    /// How many bytes the value has, which are made to find out. The library does not ask.
    public var spillByteCount: Int {
        var count = 0
        withSpillBytes { count = $0.byteCount }
        return count
    }

    /// Passes the bytes, all of them at once, if they can be made. The library does not call it.
    public func withSpillBytes(_ body: (RawSpan) -> Void) {
        let writer = SpillWriter()
        guard (try? writeSpillBytes(to: writer)) != nil else { return }
        // The writer keeps them until `body` has returned.
        unsafe writer.withBytes { unsafe body($0.bytes) }
    }

    /// Reads the bytes into pages that go back to the system as soon as the value is made of them.
    ///
    /// - Throws: what `fill` throws, or ``init(spillBytes:)``.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let bytes = unsafe try PageBuffer(spillByteCount: spillByteCount, restoringWith: fill)
        self = try bytes.withBytes { bytes in try Self(spillBytes: bytes) }
    }
}
