import PressureSignals
import PressureSystem

/// Memory is short: how short, why, and how much is wanted.
public struct MemoryWarning: Sendable, Hashable {
    /// How urgent it is; never `normal`.
    public let level: PressureLevel
    /// Why: the signal, its numbers, the threshold.
    public let cause: PressureCause
    /// Bytes wanted from all caches together; `nil` when no number is known and everything not in use is to go.
    public let bytesWanted: ByteCount?

    package init(level: PressureLevel, cause: PressureCause, bytesWanted: ByteCount?) {
        self.level = level
        self.cause = cause
        self.bytesWanted = bytesWanted
    }
}
