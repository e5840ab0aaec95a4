import PressureSystem

/// How much waiting for memory raises the level.
///
/// The defaults: some task waits 150 ms in 2 s for warning (7.5 %), all tasks wait 300 ms in 2 s for critical (15 %).
/// GLib's levels begin at 3.5 % and 5 %, Android's lmkd at 7 %, systemd's at 10 %; killers wait for more, but writing
/// values out is cheaper than killing. In a cgroup with one busy task "some" and "all" are the same, so critical must be
/// the larger one, or it would come first.
public struct StallThresholds: Hashable, Sendable {
    /// Some task waits this long in a window: warning.
    public var warning: Duration = .milliseconds(150)
    /// All tasks wait this long in a window: critical.
    public var critical: Duration = .milliseconds(300)
    /// The window; 0.5 s to 10 s. Without CAP_SYS_RESOURCE the kernel wants a multiple of 2 s; where it refuses a window,
    /// another one with the same part of waiting is tried.
    public var window: Duration = .seconds(2)
    /// Where no trigger can be armed: the part of the time that some task waits for warning (nohang warns at 10 %).
    public var polledWarning = 0.10
    /// Where no trigger can be armed: the part of the time that all tasks wait for critical.
    public var polledCritical = 0.20
    /// While `thrashingAbove` or more of the memory is left, waiting in the process's own cgroup counts only when it takes
    /// this part of the time, and as a warning: a stream through the page cache makes its writer wait for up to 32 %
    /// (measured), and means nothing; 40 % and more is a working set that does not fit (nohang's soft threshold).
    public var thrashing = 0.4
    /// From this part of the memory on, waiting in the process's own cgroup has to be `thrashing`. Page cache that waits for
    /// its device to be written is no headroom yet, so that a stream makes the headroom of a small cgroup swing as low as a
    /// third of its limit (measured); a quarter is where a warning for lack of headroom ends.
    public var thrashingAbove = 0.25
    /// Waiting of others, in a cgroup above the process's own or on the whole machine, counts only when less than this
    /// part of the memory is left: they may have a limit of their own. As long as it is not the machine's own memory of
    /// which so little is left, waiting on the whole machine has to be `thrashing` too.
    public var strangersBelow = 0.5

    /// The defaults.
    public init() {}

    /// - Throws: ``PressureError`` with code `invalidConfiguration` that names the value and what is allowed.
    func validate() throws(PressureError) {
        guard window >= .milliseconds(500), window <= .seconds(10) else {
            throw .stallThresholds("window \(window) must be from 0.5 to 10 seconds")
        }
        guard warning > .zero, warning <= window else {
            throw .stallThresholds("warning \(warning) must be more than 0 and not more than window \(window)")
        }
        guard critical > warning, critical <= window else {
            throw .stallThresholds("critical \(critical) must be more than warning \(warning), at most \(window)")
        }
        // Written so that NaN fails.
        guard polledWarning > 0, polledWarning < polledCritical, polledCritical <= 1 else {
            throw .stallThresholds(
                "polledWarning \(polledWarning) must be more than 0 and less than polledCritical \(polledCritical), at most 1"
            )
        }
        guard strangersBelow >= 0, strangersBelow <= 1 else {
            throw .stallThresholds("strangersBelow \(strangersBelow) must be from 0 to 1")
        }
        guard thrashingAbove >= 0, thrashingAbove <= 1 else {
            throw .stallThresholds("thrashingAbove \(thrashingAbove) must be from 0 to 1")
        }
        guard thrashing > 0, thrashing <= 1 else {
            throw .stallThresholds("thrashing \(thrashing) must be more than 0 and at most 1")
        }
    }
}

extension PressureError {
    fileprivate static func stallThresholds(_ contradiction: String) -> PressureError {
        PressureError(code: .invalidConfiguration, message: "Stall thresholds: \(contradiction).")
    }
}
