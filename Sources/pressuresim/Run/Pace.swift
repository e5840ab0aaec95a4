import PressureKit

/// How time passes for a scenario: really, or by a clock that moves when something is done. The one difference between the
/// two ways of playing; steps are written once, against this.
///
/// Blocking; for threads of the tool's own.
protocol Pace: Sendable {
    /// What everything is timed by.
    var clock: any MonotonicClock { get }

    /// Whether time is virtual.
    var isVirtual: Bool { get }

    /// Waits. Others go on meanwhile. Ends early when the run is to end.
    func sleep(_ duration: Duration)

    /// Does something that takes so long and does nothing else: what a loader costs.
    func spend(_ duration: Duration)

    /// A value is about to be accessed.
    func access()

    /// Called between two pieces of work: those side by side with the caller may have their turn. Returns `false` when the
    /// run is to end, and the caller should.
    func goesOn() -> Bool

    /// Runs `body` for each index side by side and returns when all have ended.
    ///
    /// - Throws: `PressureError` when there is no thread.
    func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws
}

/// Time as it is.
struct RealPace: Pace {
    let stop: StopSignal

    init(stop: StopSignal = StopSignal()) { self.stop = stop }

    var clock: any MonotonicClock { SystemClock() }
    var isVirtual: Bool { false }

    func sleep(_ duration: Duration) { stop.sleep(duration) }

    func spend(_ duration: Duration) { stop.sleep(duration) }

    func access() {}

    func goesOn() -> Bool { !stop.isSet }

    func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
        try Blocking.parallel(count, body)
    }
}
