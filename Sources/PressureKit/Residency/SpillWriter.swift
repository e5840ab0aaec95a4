/// Takes the bytes of a value while they are made, and passes them on a piece at a time.
///
/// ``Spillable/writeSpillBytes(to:)`` gets one. However long the value, no more than a piece of its bytes is in
/// memory at once. Not to be kept, and for the calling thread only.
@safe
public final class SpillWriter {
    // Safe: what is written is checked against the room, which belongs to the writer's maker or the writer.
    /// The bytes that were not passed on yet are at its beginning.
    private var base: UnsafeMutableRawPointer?
    private var size: Int
    private var used = 0
    /// How many were passed on.
    private(set) var passedCount = 0
    /// Where full pieces go; `nil` if the room is the writer's own, and grows.
    private let target: Target?

    @safe private struct Target {
        // Safe: called with bytes that are there.
        let pass: (UnsafeRawBufferPointer) throws -> Void
    }

    /// One that passes on whatever fills `piece`, which is the caller's and outlives the writer. Pieces have its length,
    /// but the last, which ``finish()`` passes on.
    init(piece: UnsafeMutableRawBufferPointer, passing pass: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        unsafe base = piece.baseAddress
        size = piece.count
        target = unsafe Target(pass: pass)
    }

    /// One that keeps all bytes, in memory of its own.
    init() {
        unsafe base = nil
        size = 0
        target = nil
    }

    // Allocated by `makeRoom` if it is the writer's.
    deinit { if target == nil { unsafe base?.deallocate() } }

    /// How many bytes were written so far.
    public var byteCount: Int { passedCount + used }

    /// Writes bytes.
    ///
    /// - Throws: why they cannot be taken. Let it through: the value stays in memory then.
    public func write(_ bytes: RawSpan) throws {
        // Read before it returns.
        try unsafe bytes.withUnsafeBytes { unsafe try write($0) }
    }

    /// Writes an integer in the bytes of its type, the least significant first.
    ///
    /// - Throws: as the other forms.
    public func write<Number: FixedWidthInteger>(_ number: Number) throws {
        let number = number.littleEndian
        // The number's own bytes.
        try unsafe withUnsafeBytes(of: number) { unsafe try write($0) }
    }

    /// Writes the UTF-8 of a string, without its length.
    ///
    /// - Throws: as the other forms.
    public func write(_ text: String) throws {
        try write(unsafe text.utf8.span.bytes)
    }

    /// The same for bytes at an address.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = unsafe bytes
        while rest.count > size - used {
            let fits = size - used
            // As much as there is room for.
            unsafe append(UnsafeRawBufferPointer(rebasing: rest[..<fits]))
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[fits...])
            try makeRoom(for: rest.count)
        }
        unsafe append(rest)
    }

    /// Writes one byte.
    @inline(__always)
    func write(byte: UInt8) throws {
        if used == size { try makeRoom(for: 1) }
        unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
        used += 1
    }

    /// Writes the least significant bytes of a number.
    @inline(__always)
    func write(_ bits: UInt64, byteCount: Int) throws {
        guard size - used >= 8 else {
            let bits = bits.littleEndian
            // At most the number's own bytes.
            return try unsafe withUnsafeBytes(of: bits) {
                unsafe try write(UnsafeRawBufferPointer(rebasing: $0[..<byteCount]))
            }
        }
        // There is room for all eight; those that do not belong to it are overwritten or not passed on.
        unsafe base.unsafelyUnwrapped.storeBytes(of: bits.littleEndian, toByteOffset: used, as: UInt64.self)
        used += byteCount
    }

    /// Writes three bytes over those at `offset`, if they were not passed on yet. Whether they were depends on `offset`, the
    /// length of a piece and how much was written, so equal values become equal bytes.
    func patch(_ bits: UInt32, at offset: Int) {
        guard offset >= passedCount else { return }
        let place = offset - passedCount
        for index in 0..<3 {
            let byte = UInt8(truncatingIfNeeded: bits >> (8 * UInt32(index)))
            // It was written, and is here.
            unsafe base?.storeBytes(of: byte, toByteOffset: place + index, as: UInt8.self)
        }
    }

    /// Passes on what is left.
    func finish() throws {
        guard used > 0, let target else { return }
        try unsafe target.pass(UnsafeRawBufferPointer(start: base, count: used))
        passedCount += used
        used = 0
    }

    /// The bytes that are here, valid until the next write.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: used))
    }

    /// Forgets what is here.
    func removeAll() { used = 0 }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0, let base = unsafe base else { return }
        // The caller has made sure that they fit.
        unsafe (base + used).copyMemory(from: source, byteCount: bytes.count)
        used += bytes.count
    }

    private func makeRoom(for count: Int) throws {
        guard target == nil else { return try finish() }
        size = max(256, 2 * size, used + count)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        if let base = unsafe base {
            // All that is there.
            unsafe larger.copyMemory(from: base, byteCount: used)
            unsafe base.deallocate()
        }
        unsafe base = larger
    }
}

@available(*, unavailable)
extension SpillWriter: Sendable {}
