import PressureKit

/// Who waits for a disk, and how.
protocol DiskTime: Sendable {
    /// A request that the disk takes `duration` for has been made at `start`. Returns when it is done.
    func wait(_ duration: Duration, since start: MonotonicInstant)

    /// The present instant.
    func now() -> MonotonicInstant
}

/// Real time: a request waits for those before it, as at a device that serves one at a time, and then for itself. What it
/// really took counts towards that.
final class RealDiskTime: DiskTime {
    private let clock = SystemClock()
    private let freeAt = Lock(MonotonicInstant(nanoseconds: .min))
    private let stop: StopSignal

    init(stop: StopSignal) { self.stop = stop }

    func now() -> MonotonicInstant { clock.now() }

    func wait(_ duration: Duration, since start: MonotonicInstant) {
        guard duration > .zero else { return }
        let end = freeAt.withLock { freeAt in
            freeAt = max(freeAt, start) + duration
            return freeAt
        }
        stop.sleep(end - clock.now())
    }
}

/// Virtual time: the clock moves on by what the request takes.
struct VirtualDiskTime: DiskTime {
    let clock: VirtualClock

    func now() -> MonotonicInstant { clock.now() }

    func wait(_ duration: Duration, since start: MonotonicInstant) { clock.advance(by: duration) }
}
