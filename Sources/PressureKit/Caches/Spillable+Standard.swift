import PressureSystem

extension Int: SpillableElement {}
extension Int8: SpillableElement {}
extension Int16: SpillableElement {}
extension Int32: SpillableElement {}
extension Int64: SpillableElement {}
extension UInt: SpillableElement {}
extension UInt8: SpillableElement {}
extension UInt16: SpillableElement {}
extension UInt32: SpillableElement {}
extension UInt64: SpillableElement {}
extension Float: SpillableElement {}
extension Double: SpillableElement {}
extension Bool: SpillableElement {}

/// Arrays spill the memory of their elements.
extension Array: Spillable where Element: SpillableElement {
    /// The elements with the padding between them.
    public var spillByteCount: Int { count * MemoryLayout<Element>.stride }

    /// The elements, and what `append` has reserved for more, which is as much again. What an allocator rounds up to is not
    /// counted: some ten bytes, or a page of an eighth of a mebibyte and more.
    public var footprint: Int {
        let (used, reserved) = (spillByteCount, capacity * MemoryLayout<Element>.stride)
        return reserved - used > Swift.max(64, used / 8) ? reserved : used
    }

    /// Passes the elements where they lie.
    public func withSpillBytes(_ body: (RawSpan) -> Void) {
        // Whole strides, where the span of a single padded element ends before its padding; valid for the call.
        unsafe withUnsafeBytes { unsafe body($0.bytes) }
    }

    /// - Throws: what `fill` throws; ``PressureError`` with `damagedCopy` when the bytes are not whole elements.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let (elements, rest) = spillByteCount.quotientAndRemainder(dividingBy: MemoryLayout<Element>.stride)
        // Room for whole elements only would be too little for the bytes.
        guard elements >= 0, rest == 0 else {
            throw PressureError.notWholeElements(byteCount: spillByteCount, stride: MemoryLayout<Element>.stride)
        }
        // `fill` writes all the bytes or throws, and any bytes that were elements once are elements again.
        unsafe try self.init(unsafeUninitializedCapacity: elements) { storage, count in
            unsafe try fill(UnsafeMutableRawBufferPointer(storage))
            count = elements
        }
    }

    /// The bytes are there already.
    public static var spillsInPlace: Bool { true }
}

/// Strings spill their UTF-8.
extension String: Spillable {
    /// The length in UTF-8.
    public var spillByteCount: Int { utf8.count }

    /// Passes the UTF-8 where it lies.
    public func withSpillBytes(_ body: (RawSpan) -> Void) { unsafe body(utf8.span.bytes) }

    /// - Throws: what `fill` throws.
    public init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        // `fill` writes all the bytes or throws; they were this string's UTF-8.
        unsafe try self.init(unsafeUninitializedCapacity: spillByteCount) { storage in
            unsafe try fill(UnsafeMutableRawBufferPointer(storage))
            return spillByteCount
        }
    }

    /// The bytes are there already.
    public static var spillsInPlace: Bool { true }
}
