import PressureSystem

/// How much memory a reclaim is to free: a number of bytes, a part of what could be evicted, or all of it; and by when.
package struct ReclaimAmount: Hashable, Sendable {
    /// Bytes.
    package var bytes = 0
    /// A part of what can be evicted when the reclaim begins, 0 … 1.
    package var share = 0.0
    /// Bytes again, but no more than ``steadyShare`` of what can be evicted: what lasts is asked for again, and what does
    /// not was not worth more.
    package var steadyBytes = 0
    /// The part of what can be evicted that `steadyBytes` is kept to.
    package var steadyShare = 0.0
    /// No victim is begun any more from then on; `nil` for as long as it takes.
    package var deadline: MonotonicInstant?

    /// A number of bytes.
    package static func bytes(_ count: Int) -> ReclaimAmount { ReclaimAmount(bytes: max(0, count)) }

    /// A number of bytes, but no more than a part of what can be evicted.
    package static func bytes(_ count: Int, atMost part: Double) -> ReclaimAmount {
        ReclaimAmount(steadyBytes: max(0, count), steadyShare: part)
    }

    /// A part of what can be evicted.
    package static func share(_ part: Double) -> ReclaimAmount { ReclaimAmount(share: part) }

    /// All that is not in use.
    package static let everything = ReclaimAmount(share: 1)

    /// Whether nothing is wanted.
    package var isNothing: Bool { bytes == 0 && share == 0 && steadyBytes == 0 }

    /// The bytes it comes to at most; `nil` when that is a part of what can be evicted.
    package var mostBytes: Int? { share == 0 ? max(bytes, steadyBytes) : nil }

    /// The number of bytes that was asked for, if it was a number.
    var statedGoal: ByteCount? { share > 0 ? nil : ByteCount(bytes: bytes) }

    /// The same until a deadline.
    package func by(_ deadline: MonotonicInstant?) -> ReclaimAmount {
        var amount = self
        amount.deadline = deadline
        return amount
    }

    /// The larger of two wishes, whichever that will turn out to be, by the later of their deadlines: a wish is never
    /// cut short because somebody else was in a hurry. Who wants nothing has no say.
    package func merged(with other: ReclaimAmount) -> ReclaimAmount {
        if isNothing { return other }
        if other.isNothing { return self }
        var merged = ReclaimAmount(bytes: max(bytes, other.bytes), share: max(share, other.share))
        merged.steadyBytes = max(steadyBytes, other.steadyBytes)
        merged.steadyShare = max(steadyShare, other.steadyShare)
        if let deadline, let others = other.deadline { merged.deadline = max(deadline, others) }
        return merged
    }

    /// The goal in bytes when `evictable` bytes could go; `nil` for all.
    package func goal(evictable: Int) -> Int? {
        guard share < 1 else { return nil }
        func part(_ share: Double) -> Int { Int((Double(evictable) * share).rounded(.up)) }
        return max(bytes, part(share), min(steadyBytes, part(steadyShare)))
    }
}
