import PressureKit

/// A value that holds bytes, for the scenario's caches: made by writing into it, read and changed in place.
protocol HeldBytes: Spillable, Equatable {
    /// A value of `byteCount` bytes, written by `fill`.
    static func make(byteCount: Int, fill: (inout MutableRawSpan) throws -> Void) throws -> Self

    /// The bytes, valid until `body` returns.
    func read<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result

    /// The bytes, to be changed.
    mutating func write(_ body: (inout MutableRawSpan) throws -> Void) rethrows
}

extension PageBuffer: HeldBytes {
    static func make(byteCount: Int, fill: (inout MutableRawSpan) throws -> Void) throws -> PageBuffer {
        var buffer = PageBuffer(byteCount: byteCount)
        try buffer.write(fill)
        return buffer
    }

    func read<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result { try withBytes(body) }

    mutating func write(_ body: (inout MutableRawSpan) throws -> Void) rethrows {
        try unsafe withUnsafeMutableBytes { bytes in
            // The span does not leave the closure that the pointer is valid in.
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            try body(&span)
        }
    }
}

extension [UInt8]: HeldBytes {
    static func make(byteCount: Int, fill: (inout MutableRawSpan) throws -> Void) throws -> [UInt8] {
        var array = [UInt8](repeating: 0, count: byteCount)
        try array.write(fill)
        return array
    }

    func read<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result { unsafe try body(span.bytes) }

    mutating func write(_ body: (inout MutableRawSpan) throws -> Void) rethrows {
        try unsafe withUnsafeMutableBytes { bytes in
            // The span does not leave the closure that the pointer is valid in.
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            try body(&span)
        }
    }
}
