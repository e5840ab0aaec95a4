public import PressureSystem

/// A pressure signal that says what it is told to, for tests, demonstrations and tools.
///
/// It takes the same way through the monitor as a real one: bands, dwell and re-notification apply.
///
/// ```swift
/// let simulated = SimulatedSource()
/// configuration.sources = [.memoryInfo, .simulated(simulated)]
/// simulated.set(.critical, freeing: .mebibytes(64))
/// ```
///
/// Safe from any thread. Setting wakes the monitor, which then decides on its own thread.
public final class SimulatedSource: Sendable {
    private struct State {
        var measure: SignalReading.Measure
        /// When the measure was first sampled; bytes freed since then count against the ones it asks for.
        var takenAt: MonotonicInstant?
        var loops: [EventLoop] = []
    }

    /// What the source is called in causes and logs.
    public let name: String
    private let state: Lock<State>

    /// Creates a source that demands `level`.
    public init(level: PressureLevel = .normal, name: String = "simulated") {
        self.name = name
        state = Lock(State(measure: .demand(level, freeing: nil)))
    }

    /// Demands a level, until the next call. Does not block.
    ///
    /// - Parameters:
    ///   - level: What to demand; `normal` demands nothing.
    ///   - bytes: How much should be freed for it; `nil` leaves that to the eviction policy.
    public func set(_ level: PressureLevel, freeing bytes: ByteCount? = nil) {
        set(.demand(level, freeing: bytes))
    }

    /// Pretends that `available` bytes of `limit` are left, until the next call; the thresholds decide what that means.
    /// Does not block.
    ///
    /// `available` is brought into 0 … `limit`. A limit that is not positive, or above
    /// 1 EiB, means nothing and changes nothing.
    public func set(available: ByteCount, of limit: ByteCount) {
        guard let headroom = Headroom(available: available, limit: limit) else { return }
        set(.headroom(headroom))
    }

    private func set(_ measure: SignalReading.Measure) {
        state.withLock { state in
            state.measure = measure
            state.takenAt = nil
            for loop in state.loops { loop.wake() }
        }
    }
}

extension SimulatedSource: SignalSource {
    package func sample(at now: MonotonicInstant) -> SignalReading? {
        state.withLock { state in
            // A pretended headroom is measured anew each time, as a real one is; a demand is made once.
            if case .headroom = state.measure { state.takenAt = now }
            let takenAt = state.takenAt ?? now
            state.takenAt = takenAt
            return SignalReading(origin: .simulated, source: name, measure: state.measure, takenAt: takenAt)
        }
    }

    package func attach(to loop: EventLoop) { state.withLock { $0.loops.append(loop) } }

    package func detach(from loop: EventLoop) { state.withLock { $0.loops.removeAll { $0 === loop } } }

    package var statuses: [SignalStatus] {
        let isAttached = state.withLock { !$0.loops.isEmpty }
        return [
            SignalStatus(
                origin: .simulated,
                source: name,
                state: isAttached ? .armed : .available,
                detail: "Says what it is told to say."
            )
        ]
    }
}
