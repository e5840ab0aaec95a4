package import PressureSystem

/// What sources are opened with.
package struct SignalContext: Sendable {
    /// Where /proc and /sys are looked for; another directory for tests.
    package var root = "/"
    /// The environment variables that sources look at; `nil` for the process's own.
    package var environment: [String: String]?
    /// The thresholds of the monitor, for sources that have the kernel watch them.
    package var thresholds = PressureThresholds()
    /// Bytes the library holds in memory outside of the process, such as a spill file on a tmpfs. Does not block.
    package var heldOutside: @Sendable () -> ByteCount = { .zero }
    /// Told of the least limit that the cgroups set, or that they set none, with each sample. Allocates nothing.
    package var limited: @Sendable (ByteCount?) -> Void = { _ in }

    /// For how long after the first sample the kernel is not asked to watch usage. It takes its time to answer, and a process
    /// that begins to load meanwhile sees nothing.
    package var watchesAfter = Duration.zero

    /// This machine, with default thresholds.
    package init() {}

    /// A path below the root.
    package func path(_ path: String) -> String { root == "/" ? path : root + path }
}
