import CLinuxShims
import Glibc
import PressureSystem

/// Bytes in pages of their own, which go back to the operating system the moment the last copy is released.
///
/// The C heap keeps what is freed and may return it late or never; pages of one's own are unmapped at once. (Only a
/// ``KeyedCache`` that is at its limit keeps a few, at most 8 MiB, for the values it trades these for, and only until
/// memory is short.) Use it for values of some tens of kibibytes and more: every buffer takes whole pages and one of the kernel's mappings (65,530
/// for a process by default, `vm.max_map_count`).
///
/// A value type: copies share pages until one of them is changed.
public struct PageBuffer: Sendable {
    private var pages: Pages

    /// A buffer of zeros. Memory is taken when it is first touched.
    ///
    /// Running out of address space ends the process, as it does for `Array`.
    public init(byteCount: Int) { pages = .make(byteCount: byteCount, isZeroed: true) }

    /// A buffer with a copy of `bytes`.
    public init(copying bytes: RawSpan) {
        pages = .make(byteCount: bytes.byteCount)
        // Both ranges have `byteCount` bytes, and the new pages overlap nothing.
        unsafe bytes.withUnsafeBytes { unsafe pages.bytes.copyMemory(from: $0) }
    }

    /// A buffer with a copy of an array's bytes.
    public init(_ bytes: [UInt8]) {
        // The array outlives the call, and its bytes are initialised.
        self = unsafe bytes.withUnsafeBytes { PageBuffer(copying: unsafe $0.bytes) }
    }

    /// The number of bytes.
    public var count: Int { pages.byteCount }

    /// Passes the bytes to `body`. They are valid until it returns.
    public func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The pages live as long as `pages`, which this method holds.
        let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(pages.bytes))
        return try body(span)
    }

    /// Passes the bytes to `body` as a buffer pointer, valid until it returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe try body(UnsafeRawBufferPointer(pages.bytes))
    }

    /// Passes the bytes to `body` to be changed; copies them first if another copy of the buffer shares them.
    public mutating func withUnsafeMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if !isKnownUniquelyReferenced(&pages) { pages = withBytes { PageBuffer(copying: $0).pages } }
        return unsafe try body(pages.bytes)
    }
}

extension PageBuffer: Hashable {
    /// Whether both hold the same bytes.
    public static func == (left: PageBuffer, right: PageBuffer) -> Bool {
        guard left.pages !== right.pages else { return true }
        guard left.count == right.count else { return false }
        // Both are mapped, and of this length.
        return unsafe memcmp(left.pages.bytes.baseAddress!, right.pages.bytes.baseAddress!, left.count) == 0
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

extension PageBuffer: Spillable {
    /// The number of bytes.
    public var spillByteCount: Int { count }

    /// Whole pages, as the kernel counts them.
    public var footprint: Int { pages.mappedByteCount }

    /// Passes the bytes where they lie.
    public func withSpillBytes(_ body: (RawSpan) -> Void) { withBytes(body) }

    /// - Throws: what `fill` throws; ``PressureError`` with `restoreFailed` when there is no address space, or no mapping
    ///   left.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard let pages = Pages(mapping: spillByteCount) else {
            throw PressureError.noMemoryToRestore(byteCount: spillByteCount)
        }
        self.pages = pages
        unsafe try fill(pages.bytes)
    }

    /// The bytes are there already.
    public static var spillsInPlace: Bool { true }
}

/// The mapping behind a ``PageBuffer``.
@safe
private final class Pages: @unchecked Sendable {
    // Sendable and safe: written only through `withUnsafeMutableBytes`, which makes sure that nobody else refers to it.
    let byteCount: Int
    private let address: UnsafeMutableRawPointer

    /// Pages that are to be filled with zeros, or by the caller. Ends the process when there are none.
    static func make(byteCount: Int, isZeroed: Bool = false) -> Pages {
        guard let pages = Pages(mapping: byteCount, isZeroed: isZeroed) else {
            fatalError("no address space for a PageBuffer of \(ByteCount(bytes: byteCount))")
        }
        return pages
    }

    /// The same; `nil` when the system has no address space, or no mapping left.
    init?(mapping byteCount: Int, isZeroed: Bool = false) {
        precondition(byteCount >= 0, "a PageBuffer cannot have \(byteCount) bytes")
        self.byteCount = byteCount
        if let warm = unsafe WarmPages.shared.take(byteCount: Self.mappedByteCount(for: byteCount)) {
            unsafe address = warm
            // As long as was asked for; clearing warm pages costs a tenth of faulting fresh ones in.
            if isZeroed { unsafe warm.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
            return
        }
        guard let address = unsafe pk_map_pages(Self.mappedByteCount(for: byteCount)) else { return nil }
        unsafe self.address = address
    }

    // The address and length are those of `init`.
    deinit {
        if unsafe WarmPages.shared.keep(address, byteCount: mappedByteCount) { return }
        unsafe _ = pk_unmap_pages(address, mappedByteCount)
    }

    var mappedByteCount: Int { Self.mappedByteCount(for: byteCount) }

    var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: address, count: byteCount)
    }

    private static func mappedByteCount(for byteCount: Int) -> Int { max(4096, (byteCount + 4095) & ~4095) }
}
