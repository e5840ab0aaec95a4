/// How much memory a relief is to free: a number of bytes, a part of what could be evicted, or all of it.
package struct ReliefAmount: Hashable, Sendable {
    /// Bytes.
    package var bytes = 0
    /// A part of what can be evicted when the relief begins, 0 … 1.
    package var share = 0.0

    /// A number of bytes.
    package static func bytes(_ count: Int) -> ReliefAmount { ReliefAmount(bytes: max(0, count)) }

    /// A part of what can be evicted.
    package static func share(_ part: Double) -> ReliefAmount { ReliefAmount(share: part) }

    /// All that is not in use.
    package static let everything = ReliefAmount(share: 1)

    /// The larger of two wishes, whichever that will turn out to be.
    package func merged(with other: ReliefAmount) -> ReliefAmount {
        ReliefAmount(bytes: max(bytes, other.bytes), share: max(share, other.share))
    }

    /// The goal in bytes when `evictable` bytes could go; `nil` for all.
    package func goal(evictable: Int) -> Int? {
        share >= 1 ? nil : max(bytes, Int((Double(evictable) * share).rounded(.up)))
    }
}
