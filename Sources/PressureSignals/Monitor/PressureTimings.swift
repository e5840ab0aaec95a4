package import PressureSystem

/// The monitor's times. The defaults and where each comes from are beside the values.
package struct PressureTimings: Hashable, Sendable {
    /// A crossing must still be there after this time before the level rises on headroom alone: one sample may be a
    /// spike (earlyoom checks twice as well). Shorter when so little is left that half of it could be gone by then.
    package var confirmation: Duration = .milliseconds(100)
    /// The level falls when its cause has been gone for this long, and one level at a time (Chromium's cool-down).
    package var dwell: Duration = .seconds(10)
    /// While warning lasts, reclaim is asked for again this often (Chromium on Linux).
    package var warningRepeat: Duration = .seconds(10)
    /// While critical lasts, reclaim is asked for again this often (Chromium on Linux).
    package var criticalRepeat: Duration = .seconds(5)
    /// From the end of one reclaim to the next, at least this at warning (WebKit on Linux, as the next three).
    package var warningPause: Duration = .seconds(5)
    /// From the end of one reclaim to the next, at least this at critical.
    package var criticalPause: Duration = .seconds(1)
    /// The pause is at least this many times as long as the reclaim was: so it takes at most 5 % of the time.
    package var pausePerReclaim = 20
    /// After a reclaim that returned less than `fruitful`, at least this long.
    package var fruitlessPause: Duration = .seconds(30)
    /// What a reclaim must return to the system to have been worth it.
    package var fruitful: ByteCount = .mebibytes(1)
    /// A source that says nothing for this long has no vote any more.
    package var silence: Duration = .seconds(30)

    /// After a reclaim memory is measured again this soon, and not before: what was freed shows with a delay. Less when
    /// memory would be gone by then (earlyoom waits for its victim's end; the time is our own judgement).
    package var settle: Duration = .milliseconds(200)
    /// How long a reclaim is taken to last before one has been measured.
    package var assumedReclaim: Duration = .milliseconds(200)
    /// For `alertTime` after the kernel has notified, the sleep is no longer than this (lmkd polls at 10 and 100 ms).
    package var alertPoll: Duration = .milliseconds(100)
    /// A trigger fires once a window at most, so that what follows must be looked for.
    package var alertTime: Duration = .seconds(2)

    /// The shortest sleep.
    package var shortestPoll: Duration = .milliseconds(5)
    /// The longest sleep at normal: 0.2 wake-ups a second.
    package var longestPoll: Duration = .seconds(5)
    /// The longest sleep at warning and critical, so that recovery is seen in time.
    package var pressedPoll: Duration = .seconds(1)
    /// How fast memory can go, in bytes a second: what a few cores touch at most (nohang counts on 6,000 MiB/s).
    package var fastestFill: ByteCount = .gibibytes(4)
    /// What a machine is taken to be capable of from standing still. With more than 2.5 GiB to go until the next
    /// threshold, a machine whose memory does not move is then looked at every 5 s.
    package var idleFill: ByteCount = .mebibytes(512)
    /// Memory that has not moved for this long stands still.
    package var restless: Duration = .seconds(2)

    /// The defaults.
    package init() {}

    /// How often reclaim is asked for again while `level` lasts.
    package func repetition(_ level: PressureLevel) -> Duration {
        level == .critical ? criticalRepeat : warningRepeat
    }

    /// The shortest time from the end of one reclaim to the next at `level`.
    package func pause(_ level: PressureLevel) -> Duration { level == .critical ? criticalPause : warningPause }
}
