import PressureKit
import ScenarioLanguage
import Synchronization

/// Memory taken by `fill` steps, for as long as the timeline wants it.
final class MemoryFill: Sendable {
    /// One mapping each; small steps, so that a level that is reached stops the filling soon.
    private static let chunk = 4 << 20
    /// Never go below this much available memory, whatever the scenario asks for.
    static let floor = ByteCount.mebibytes(192)

    private let buffers = Lock<[any TakenMemory]>([])
    private let peak = Atomic<Int>(0)
    private let machine: any Machine
    private let pace: any Pace

    init(of machine: any Machine = RealMachine(), pace: any Pace = RealPace()) {
        self.machine = machine
        self.pace = pace
    }

    /// The most that was held at once.
    var peakBytes: ByteCount { .bytes(peak.load(ordering: .relaxed)) }

    /// How a fill ended.
    enum End: Hashable, Sendable {
        /// The level was reached.
        case reached
        /// All that the scenario allows was taken first.
        case bound
        /// The machine had too little left first.
        case floor
        /// The run is to end.
        case interrupted
    }

    /// Takes memory until the level is reached, the bound is, or too little is left. Blocking.
    func fill(_ spec: FillSpec, level: () -> PressureLevel) -> End {
        let clock = pace.clock
        let start = clock.now()
        let before = heldBytes
        while level() < spec.level {
            guard pace.goesOn() else { return .interrupted }
            let held = heldBytes
            guard held + Self.chunk <= spec.atMost.bytes else { return settle(spec, level) }
            if let available = machine.available, available < Self.floor { return .floor }
            if let available = machine.containerAvailable, available < Self.floor { return .floor }
            take()
            let due = Duration.nanoseconds(Int64(Double(held + Self.chunk - before) / spec.rate * 1e9))
            let early = due - (clock.now() - start)
            if early > .zero { pace.sleep(early) }
        }
        return .reached
    }

    private var heldBytes: Int { buffers.withLock { $0.count * Self.chunk } }

    /// Gives everything back.
    func release() { buffers.withLock { $0 = [] } }

    /// The bound is taken; the monitor may need one more look to see it. Its slowest poll takes 5 s.
    private func settle(_ spec: FillSpec, _ level: () -> PressureLevel) -> End {
        for _ in 0..<60 {
            if level() >= spec.level { return .reached }
            guard pace.goesOn() else { return .interrupted }
            pace.sleep(.milliseconds(100))
        }
        return .bound
    }

    private func take() {
        let taken = machine.take(Self.chunk)
        let held = buffers.withLock { buffers in
            buffers.append(taken)
            return buffers.count * Self.chunk
        }
        if held > peak.load(ordering: .relaxed) { peak.store(held, ordering: .relaxed) }
    }
}
