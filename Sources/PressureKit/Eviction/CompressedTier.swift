import PressureSystem
import SpillStore

/// Whether values may be compressed and stay in memory instead of going to the spill file.
///
/// A compressed value frees less than a spilled one, comes back without the disk, and takes part of the memory that is
/// short. So it is for disks that are slow, full or absent; on a good disk spilling frees more for the same work, and with
/// ``first(upTo:)`` a cache that is full below a cgroup's limit was read half as often (measured, values of 32 KiB and 1 MiB).
///
/// Each compressed value takes pages of its own. One of less than 4.5 KiB would gain nothing, and is treated as if there were no
/// such tier.
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

    /// What is left of it for a value of so many bytes.
    func forValue(of byteCount: Int) -> Self { byteCount < Self.leastBytes ? .none : self }

    /// A copy in memory takes whole pages, and has to be a tenth smaller than the value.
    private static let leastBytes = (ExtentAllocator.unitSize * 10 + 8) / 9
}
