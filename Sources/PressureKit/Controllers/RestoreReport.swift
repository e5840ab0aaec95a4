import PressureSystem

/// What was restored ahead of its next use.
public struct RestoreReport: Sendable {
    /// The caches whose values are in memory again. Values that had stayed are not among them, nor keyed caches, whose
    /// values come back one by one when they are asked for.
    public var restored: [PressureResource] = []
    /// Their bytes.
    public var bytes = ByteCount.zero
    /// From the request to the end.
    public var duration = Duration.zero
    /// What could not be restored; those values are tried again on their next access.
    public var failures: [PressureError] = []
    /// What was not begun, since memory became short again: it comes back on its next access.
    public var left: [PressureResource] = []
}
