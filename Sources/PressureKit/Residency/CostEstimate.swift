/// What moving a value costs, in nanoseconds, for as long as its cache has not measured it. Pure.
///
/// The rates are those of zlib 1.2.13 at level 1 on one core of a 2020s server: deflate about 75 MB of plain bytes a
/// second, inflate with its `pread` about 300, a free over 10,000. Only their proportions matter for an order.
package enum CostEstimate {
    /// A system call or two, a checksum, and waking whoever waits.
    package static let latency: Float = 20_000

    /// Reading a copy of `byteCount` plain bytes back.
    package static func restore(byteCount: Int) -> Float { latency + Float(byteCount) / 0.3 }

    /// Writing a copy of `byteCount` plain bytes.
    package static func write(byteCount: Int) -> Float { latency + Float(byteCount) / 0.075 }

    /// Releasing `byteCount` bytes.
    package static func release(byteCount: Int) -> Float { 1000 + Float(byteCount) / 10 }

    /// The cost for `byteCount` bytes, when values of `averageBytes` bytes took `average` nanoseconds: the latency stays,
    /// the rest grows with the bytes.
    package static func scaled(_ average: Float, from averageBytes: Int, to byteCount: Int) -> Float {
        guard averageBytes > 0, averageBytes != byteCount else { return average }
        let fixed = min(average, latency)
        return fixed + (average - fixed) * Float(byteCount) / Float(averageBytes)
    }
}
