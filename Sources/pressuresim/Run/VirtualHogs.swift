import PressureKit
import ScenarioLanguage

/// Hogs on a machine that is imagined: numbers that grow, stay, and go.
final class VirtualHogs: Hogs {
    private struct State {
        /// What each holds, and until when.
        var held: [(bytes: Int, until: MonotonicInstant?)] = []
        var peak = 0

        var total: Int { held.reduce(0) { $0 + $1.bytes } }
    }

    /// What one takes at a time: little enough that a level that is reached is seen.
    private static let step = 4 << 20

    private let machine: VirtualMachine
    private let pace: any Pace
    private let state = Lock(State())

    init(on machine: VirtualMachine, pace: any Pace) {
        self.machine = machine
        self.pace = pace
        machine.host.addHolder { [weak self, clock = pace.clock] in self?.held(at: clock.now()) ?? .zero }
    }

    var peak: ByteCount { .bytes(state.withLock(\.peak)) }

    func start(_ spec: HogSpec, isForced: Bool) throws(EnvironmentRefusal) -> HogOutcome {
        let number = state.withLock { state in
            state.held.append((0, nil))
            return state.held.count - 1
        }
        var taken = 0
        while taken < spec.size.bytes, pace.goesOn() {
            let more = min(Self.step, spec.size.bytes - taken)
            pace.sleep(.nanoseconds(Int64(Double(more) / spec.rate * 1e9)))
            taken += more
            set(taken, at: number, until: nil)
        }
        set(taken, at: number, until: pace.clock.now() + spec.hold)
        return taken < spec.size.bytes ? .slow(.bytes(taken), process: nil) : .holds(spec.size, process: nil)
    }

    func end() { state.withLock { $0.held = [] } }

    private func set(_ bytes: Int, at number: Int, until: MonotonicInstant?) {
        state.withLock { state in
            // All may have been ended meanwhile, by a step beside this one.
            guard number < state.held.count else { return }
            state.held[number] = (bytes, until)
            state.peak = max(state.peak, state.total)
        }
    }

    private func held(at now: MonotonicInstant) -> ByteCount {
        state.withLock { state in
            for index in state.held.indices {
                if let until = state.held[index].until, until <= now { state.held[index] = (0, nil) }
            }
            return .bytes(state.total)
        }
    }
}
