import Glibc
import PressureSystem

/// How fast one headroom falls, smoothed. Pure; allocates nothing.
///
/// An exponential average over about a fifth of a second, so that one jump is not taken for a trend: the weight of a
/// step is its length over its length plus the time constant.
struct FillRate: Sendable {
    private static let smoothing = 0.2
    private static let fading = 30.0
    private var last: (available: ByteCount, at: MonotonicInstant)?

    /// Bytes a second; never negative. A rise counts as standing still.
    private(set) var bytesPerSecond = 0.0
    /// The highest it was lately; it fades to half in half a minute. At first it is taken to have been what a program that
    /// fills memory at an ordinary pace reaches: the first time must be survived too.
    private(set) var peak = 200e6
    /// Whether it fell from the sample before the last to the last.
    private(set) var isFalling = false

    /// Takes a sample. Two in one instant count as one.
    mutating func note(_ available: ByteCount, at now: MonotonicInstant) {
        guard let last else {
            self.last = (available, now)
            return
        }
        let seconds = Double((now - last.at).nanoseconds) / 1e9
        guard seconds > 0 else { return }
        let fall = Double(max(0, last.available.bytes - available.bytes)) / seconds
        isFalling = fall > 0
        peak *= exp2(-seconds / Self.fading)
        defer { peak = max(peak, bytesPerSecond) }
        bytesPerSecond += (fall - bytesPerSecond) * (seconds / (seconds + Self.smoothing))
        self.last = (available, now)
    }

    /// The time in which `available` is gone at this rate; `nil` when it is more than an hour.
    func exhaustion(of available: ByteCount) -> Duration? {
        let seconds = Double(max(0, available.bytes)) / max(bytesPerSecond, 1)
        return seconds < 3600 ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }
}
