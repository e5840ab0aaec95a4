import PressureSystem

/// Time over bytes, of about the last 4 MiB. 8 bytes, trivial, pure.
///
/// Both are summed, rather than their ratios averaged: one small frame may wait for the writeback of all that was written
/// before it, which says little of its own bytes.
struct ByteRate: Hashable, Sendable, BitwiseCopyable {
    /// Bytes that are remembered: 16 chunks, as DuckDB does for its temporary files.
    static let window: Float = 4 * 1024 * 1024

    private var nanoseconds: Float = 0
    private var bytes: Float = 0

    /// Nanoseconds for a byte; `nil` before the first measurement.
    var perByte: Double? { bytes == 0 ? nil : Double(nanoseconds / bytes) }

    /// Notes what some bytes took. A duration that is not positive says nothing.
    mutating func note(_ time: Duration, _ count: Int) {
        guard count > 0, time > .zero else { return }
        let kept = max(0, 1 - Float(count) / Self.window)
        nanoseconds = nanoseconds * kept + Float(time.nanoseconds)
        bytes = bytes * kept + Float(count)
    }
}
