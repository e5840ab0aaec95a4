import PressureSignals
import PressureSystem
import Synchronization

/// What controllers have to know of their process as a whole: whether it is in the background, how short memory is, and
/// whether it has been short since they last looked.
final class ManagerScene: Sendable {
    private struct State {
        var isSuspended = false
        var newestCause: PressureCause?
        var demands = 0
    }

    private let state = Lock(State())
    /// What the manager lets become of values.
    let dispositions: Disposition

    init(dispositions: Disposition) { self.dispositions = dispositions }

    /// Whether the manager is in the background, so that nobody is told of appearing.
    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Why the level is what it is; `nil` before it first changed.
    var newestCause: PressureCause? { state.withLock { $0.newestCause } }

    /// The level that was last told.
    var level: PressureLevel { state.withLock { $0.newestCause?.levelAfter ?? .normal } }

    /// Counts warnings and levels that rose: who sees the number change knows that memory is short again.
    var demands: Int { state.withLock { $0.demands } }

    /// Whether this changed anything.
    func suspend(_ isSuspended: Bool) -> Bool {
        state.withLock { state in
            defer { state.isSuspended = isSuspended }
            return state.isSuspended != isSuspended
        }
    }

    /// The level has changed.
    func note(_ cause: PressureCause) {
        state.withLock { state in
            state.newestCause = cause
            if cause.levelAfter > cause.levelBefore { state.demands += 1 }
        }
    }

    /// Somebody is warned.
    func noteDemand() { state.withLock { $0.demands += 1 } }
}
