import PressureSignals

/// How long one reclaim waits for hooks, all of them together: two seconds for a warning, half a second when memory is
/// nearly gone. Pure.
///
/// Half a second is much: a swapless cgroup of 256 MiB went from 80 % full to its end in 157 ms. A delegate that answers
/// in a few milliseconds, as all should, never meets either limit.
struct ListenerPatience: Hashable, Sendable {
    /// For a warning, and for what is no warning at all.
    static let warning = Duration.seconds(2)
    /// For a critical reclaim.
    static let critical = Duration.milliseconds(500)

    private var spent = Duration.zero
    /// For all hooks together, and for a single one, whether or not the reclaim had other things to do meanwhile.
    private(set) var limit = warning

    /// A reclaim is as urgent as the most urgent of its causes.
    mutating func hurry(for level: PressureLevel) {
        if level == .critical { limit = Self.critical }
    }

    /// Time was spent waiting.
    mutating func spend(_ time: Duration) { spent += time }

    /// What is left; zero or less: do not wait.
    var left: Duration { limit - spent }
}
