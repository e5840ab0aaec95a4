public import PressureSystem

/// How a process shares a memory limit with others that have a manager too and run as the same user.
///
/// They meet without being told of each other: what is missing below the limit is freed once, each gives its part, and who
/// waits more for a byte gets more of the room. Alone below its limit a process notices nothing of it.
public struct MemoryShare: Hashable, Sendable {
    /// How much the waiting of this process's readers counts beside that of others, more than 0 and at most 1,000. With 2 it
    /// gets about as much room as two processes that are alike.
    public var weight = 1.0

    /// Bytes of values that others leave to this process while any of them has more than its own part. No promise: what is
    /// needed is taken.
    public var floor = ByteCount.zero

    /// Whether it meets others. Otherwise it frees its part of what all processes below the limit have in memory, as it does
    /// where there is no place to meet.
    public var isShared = true

    /// Creates a share.
    public init(weight: Double = 1, floor: ByteCount = .zero) {
        self.weight = weight
        self.floor = floor
    }

    /// Does not meet others.
    public static let off: MemoryShare = {
        var share = MemoryShare()
        share.isShared = false
        return share
    }()

    /// - Throws: ``PressureError`` with `invalidConfiguration` that names the value and what is allowed.
    package func validate() throws(PressureError) {
        guard weight > 0, weight <= 1000 else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "share.weight is \(weight); it must be more than 0 and at most 1,000."
            )
        }
        guard floor >= .zero else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "share.floor is negative (\(floor)); use zero for none."
            )
        }
    }
}
