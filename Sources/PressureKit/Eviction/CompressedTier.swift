import PressureSystem

/// Whether values may be compressed and stay in memory instead of going to the spill file.
///
/// A compressed value frees less than a spilled one, comes back without the disk, and takes part of the memory that is
/// short. So it is for disks that are slow, full or absent; on a good disk spilling frees more for the same work.
public enum CompressedTier: Sendable, Hashable {
    /// Never.
    case never
    /// When the spill file cannot be written, for values that no loader makes: up to so many bytes, compressed.
    case whenSpillingFails(upTo: ByteCount)
    /// Before the spill file: up to so many bytes, compressed; what is over goes to the spill file. In idle time what
    /// has been there for long is moved to the disk.
    case first(upTo: ByteCount)

    /// The most compressed bytes in memory.
    public var limit: ByteCount {
        switch self {
        case .never: .zero
        case .whenSpillingFails(let limit), .first(let limit): limit
        }
    }
}

/// What a round may do with the compressed tier.
package enum CompressedTierUse: Sendable {
    /// Nothing: there is none, or it is full.
    case none
    /// Take what can be written nowhere else.
    case fallback
    /// Take what would go to the spill file.
    case first
}
