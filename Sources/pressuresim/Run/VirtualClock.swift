import PressureKit
import Synchronization

/// What things take in virtual time. The disk's times are ``DiskCondition/imagined``'s.
///
/// One processor and one disk, and nothing overlaps: rough figures of a small server, round so that a log can be checked
/// by hand. What matters is that they are the same everywhere.
struct CostModel: Hashable, Sendable {
    /// Finding a value that is in memory.
    var access = Duration.nanoseconds(250)
    /// Plain bytes a second that the codec compresses: deflate at level 1 on a processor of 2020.
    var compressing = 100e6
    /// Plain bytes a second that it makes again.
    var decompressing = 400e6
    /// Bytes a second whose memory is given back, page by page.
    var releasing = 20e9

    /// How long work on so many bytes takes.
    func duration(of work: TimedWork, byteCount: Int) -> Duration {
        let rate =
            switch work {
            case .compressing: compressing
            case .decompressing: decompressing
            case .releasing: releasing
            }
        return .nanoseconds(Int64((Double(byteCount) / rate * 1e9).rounded(.up)))
    }
}

/// A clock that stands still unless something is done that takes time, or somebody waits.
final class VirtualClock: MonotonicClock {
    /// Not zero, so that there is time before the beginning: some things look back.
    static let origin = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    let costs: CostModel
    private let time = Atomic<Int64>(origin.nanoseconds)

    init(costs: CostModel = CostModel()) { self.costs = costs }

    func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: time.load(ordering: .relaxed)) }

    func spent(on work: TimedWork, byteCount: Int) { advance(by: costs.duration(of: work, byteCount: byteCount)) }

    /// Moves on. From any thread; what several threads add adds up, in whatever order.
    func advance(by duration: Duration) {
        guard duration > .zero else { return }
        time.wrappingAdd(duration.nanoseconds, ordering: .relaxed)
    }

    /// Moves on to an instant; does nothing when that is past.
    func advance(to instant: MonotonicInstant) { advance(by: instant - now()) }
}
