import PressureKit

/// A value without memory of its own, so that what the cache costs is all there is to measure.
struct BenchValue: Spillable {
    var number: UInt64

    var spillByteCount: Int { MemoryLayout<UInt64>.size }

    func withSpillBytes(_ body: (RawSpan) -> Void) {
        // A local copy of eight bytes, which outlives the call.
        unsafe withUnsafeBytes(of: number) { bytes in body(unsafe bytes.bytes) }
    }

    init(number: UInt64) { self.number = number }

    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        number = 0
        unsafe try withUnsafeMutableBytes(of: &number) { unsafe try fill($0) }
    }
}
