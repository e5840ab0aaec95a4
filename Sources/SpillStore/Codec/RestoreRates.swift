import PressureSystem

/// How long it takes to read a cache's bytes back, as they are and compressed. 16 bytes, trivial.
///
/// Pure: time is what the caller measured.
package struct RestoreRates: Hashable, Sendable, BitwiseCopyable {
    private var whole = ByteRate()
    private var packed = ByteRate()

    /// Nothing is known.
    package init() {}

    /// Notes what reading a value back took.
    ///
    /// Where a few chunks went the other way, to be measured, they took what the others, as measured, did not.
    ///
    /// - Parameters:
    ///   - byteCount: its plain bytes.
    ///   - compressed: those of them that lay compressed.
    package mutating func note(_ time: Duration, byteCount: Int, compressed: Int) {
        let stored = byteCount - compressed
        if compressed == 0 { return whole.note(time, stored) }
        if stored == 0 { return packed.note(time, compressed) }
        if stored < compressed, let others = packed.perByte {
            whole.note(max(.nanoseconds(1), time - .nanoseconds(Int64(others * Double(compressed)))), stored)
        } else if compressed <= stored, let others = whole.perByte {
            packed.note(max(.nanoseconds(1), time - .nanoseconds(Int64(others * Double(stored)))), compressed)
        }
    }

    /// What reading a byte back `count` times takes; `nil` while not both were measured.
    package func outlook(restores count: Double) -> RestoreOutlook? {
        guard let whole = whole.perByte, let packed = packed.perByte else { return nil }
        return RestoreOutlook(whole: whole * count, packed: packed * count)
    }
}

/// What will be spent on reading a plain byte back that is to be written now, in nanoseconds.
package struct RestoreOutlook: Hashable, Sendable {
    /// Where it is written as it is.
    package var whole: Double
    /// Where it is compressed.
    package var packed: Double

    /// It will not be read back, or nothing is known of that.
    package static let none = RestoreOutlook(whole: 0, packed: 0)

    /// Creates an outlook.
    package init(whole: Double, packed: Double) {
        self.whole = whole
        self.packed = packed
    }
}
