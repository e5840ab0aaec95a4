public import PressureKit

/// A pressure signal that plays a marble diagram on a clock moved by hand.
///
/// One character is one tick: `n`, `w` and `c` demand normal, warning and critical; `-` has no news. Behind the end
/// there is no news either.
///
/// ```swift
/// let clock = ManualClock()
/// let source = MarbleSource("nnww-ccc--nn", tick: .seconds(1), clock: clock)
/// let manager = try PressureManager(configuration: .testing(clock: clock, sources: [source.pressureSource]))
/// await manager.play(source)
/// ```
public final class MarbleSource: Sendable {
    /// The diagram, which is also what the source is called in causes.
    public let name: String
    /// The number of ticks in it.
    public let count: Int

    private let marbles: [PressureLevel?]
    let tick: Duration
    let clock: ManualClock
    private let start: MonotonicInstant

    /// Creates a source whose first tick begins now, by `clock`.
    ///
    /// - Precondition: The diagram has no other characters, and a tick takes time.
    public init(_ marbles: String, tick: Duration = .seconds(1), clock: ManualClock) {
        precondition(tick > .zero, "a tick must take time")
        self.marbles = marbles.map { marble in
            switch marble {
            case "n": .normal
            case "w": .warning
            case "c": .critical
            case "-": nil
            default: preconditionFailure("\"\(marble)\" is no marble in \"\(marbles)\"; use n, w, c and -")
            }
        }
        name = marbles
        count = self.marbles.count
        self.tick = tick
        self.clock = clock
        start = clock.now()
    }

    /// Whether the clock is behind the last marble.
    var isOver: Bool { (clock.now() - start).nanoseconds / tick.nanoseconds >= count }

    /// The source as an app's configuration takes it.
    public var pressureSource: PressureSource {
        PressureSource(name: name) { () throws(PressureError) in self }
    }
}

extension MarbleSource: SignalSource {
    package func sample(at now: MonotonicInstant) -> SignalReading? {
        let index = (now - start).nanoseconds / tick.nanoseconds
        guard marbles.indices.contains(Int(index)), let level = marbles[Int(index)] else { return nil }
        return SignalReading(origin: .simulated, source: name, measure: .demand(level, freeing: nil), takenAt: now)
    }
}
