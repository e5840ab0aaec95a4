import Glibc
import PressureSystem

/// How fast one headroom falls, smoothed. Pure; allocates nothing.
///
/// An exponential average over about a fifth of a second, so that one jump is not taken for a trend: the weight of a
/// step is its length over its length plus the time constant.
struct FillRate: Sendable {
    private static let smoothing = 0.2
    private static let quick = 0.05
    private static let fading = 30.0
    private var last: (available: ByteCount, entrusted: ByteCount, at: MonotonicInstant)?

    /// Bytes a second; never negative. A rise counts as standing still.
    private(set) var bytesPerSecond = 0.0
    /// The same with rises taken off: what falls and rises again, as a buffer's memory does, has not been taken.
    private(set) var net = 0.0
    /// That over a quarter of the time: what goes on this moment.
    private(set) var momentary = 0.0
    /// The highest that ``net`` was lately; it fades to half in half a minute. At first it is taken to have been what a program that
    /// fills memory at an ordinary pace reaches: the first time must be survived too.
    private(set) var peak = 200e6
    /// How fast it fell from the sample before the last to the last; 0 if it rose.
    private(set) var latest = 0.0
    /// Whether it fell then.
    var isFalling: Bool { latest > 0 }

    /// Takes a sample. Two in one instant count as one.
    ///
    /// - Parameter entrusted: What the app has in its caches, and what reclaims took from there. What it takes out itself is
    ///   free in the heap, or the system's: nobody has taken it.
    mutating func note(_ available: ByteCount, entrusted: ByteCount = .zero, at now: MonotonicInstant) {
        guard let last else {
            self.last = (available, entrusted, now)
            return
        }
        let seconds = Double((now - last.at).nanoseconds) / 1e9
        guard seconds > 0 else { return }
        var missing = last.available.bytes - available.bytes
        if missing > 0 { missing -= min(missing, max(0, last.entrusted.bytes - entrusted.bytes)) }
        let fall = Double(missing) / seconds
        latest = max(0, fall)
        peak *= exp2(-seconds / Self.fading)
        bytesPerSecond += (latest - bytesPerSecond) * (seconds / (seconds + Self.smoothing))
        net = max(0, net + (fall - net) * (seconds / (seconds + Self.smoothing)))
        momentary = max(0, momentary + (fall - momentary) * (seconds / (seconds + Self.quick)))
        peak = max(peak, net)
        self.last = (available, entrusted, now)
    }

    /// The time in which `available` is gone at this rate; `nil` when it is more than an hour.
    func exhaustion(of available: ByteCount) -> Duration? {
        let seconds = Double(max(0, available.bytes)) / max(bytesPerSecond, 1)
        return seconds < 3600 ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }
}
