import SpillStore

/// A value that a cache can write out as bytes and make again from them.
///
/// Conformances come with the package for arrays of `BitwiseCopyable` elements (so `[UInt8]`, `[Float]`, …), `String`,
/// ``PageBuffer``, `Data`, and any `Codable` value through ``Coded`` or, in one line, ``CodedSpillable``. Write one when your
/// type owns its bytes:
///
/// ```swift
/// struct Picture: Spillable {
///     let width: Int
///     let pixels: PageBuffer
///     var spillByteCount: Int { pixels.spillByteCount }
///     …
/// }
/// ```
///
/// A spilled value is read back by the process that wrote it. The same bytes are what a saved state has, and that is read by a
/// later process, perhaps a later version of the app. There values are matched by their type, and arrays by size, stride and
/// alignment of their elements as well; when the bytes of a type change in any other way, give the type another version
/// (``CodedSpillable/spillVersion``), or the app (``PressureManager/restoreState(from:version:)``). In either case a checksum
/// comes first.
public protocol Spillable: Sendable {
    /// How many bytes ``withSpillBytes(_:)`` passes.
    ///
    /// Asked once for each load and each change of the value, before readers get it: who waits for the load waits for this
    /// too. Not asked when a value is read that is in memory, or restored.
    var spillByteCount: Int { get }

    /// The bytes of memory that releasing the value gives back, for the planner and for what a report claims.
    ///
    /// Asked when ``spillByteCount`` is, which is the default. It is not an error to be wrong, but reports will show the
    /// gap.
    var footprint: Int { get }

    /// Passes the value's bytes to `body`, which copies them before it returns.
    ///
    /// Called on the library's threads while the value is in use by readers, possibly by two threads at once, and
    /// several times for one eviction if ``spillsInPlace`` is true. Memory is short when it is called: pass the bytes
    /// where they lie instead of allocating. Returning without calling `body` means that the value cannot be written
    /// now: it stays in memory, and the report says so.
    func withSpillBytes(_ body: (RawSpan) -> Void)

    /// Makes the value again from its bytes.
    ///
    /// Allocate the final storage, pass it to `fill` once, which writes exactly `spillByteCount` bytes, and keep it.
    ///
    /// - Throws: what `fill` throws; or an error of your own when the bytes make no value, which the reader gets.
    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws

    /// Whether ``withSpillBytes(_:)`` passes bytes that are there already, at no cost.
    ///
    /// Then a large value is compressed on several cores at once. The default is `false`.
    static var spillsInPlace: Bool { get }

    /// Whether the bytes are made when the value is spilled or saved, and never else, by ``writeSpillBytes(to:)``.
    ///
    /// Then ``spillByteCount`` and ``withSpillBytes(_:)`` are not asked. The default is `false`; types that conform to
    /// ``EncodedSpillable`` have it.
    static var encodesWhenSpilled: Bool { get }

    /// Makes the value's bytes and writes them, where ``encodesWhenSpilled`` says so; else not called.
    ///
    /// - Throws: what the writer throws, or why there are no bytes: the value stays in memory, and the report says so.
    func writeSpillBytes(to writer: SpillWriter) throws
}

extension Spillable {
    /// The length of the bytes: right for a value that is little more than those.
    public var footprint: Int { spillByteCount }

    /// Assumes that the bytes have to be made.
    public static var spillsInPlace: Bool { false }

    /// Assumes that they are passed.
    public static var encodesWhenSpilled: Bool { false }

    /// Writes the bytes that are passed.
    public func writeSpillBytes(to writer: SpillWriter) throws {
        var outcome: Result<Void, any Error>?
        withSpillBytes { bytes in outcome = Result { try writer.write(bytes) } }
        // A value that passes none cannot be written now.
        guard let outcome else { throw SpillFailure.valueNotPassed }
        try outcome.get()
    }
}

/// An element whose memory is its value, so that an array of it spills without a copy on the way out or back.
///
/// The numeric types have it. Give it to structs of your own that consist of such, and nothing else:
///
/// ```swift
/// struct Point: SpillableElement { var x, y: Float }
/// ```
public protocol SpillableElement: BitwiseCopyable, Sendable {}
