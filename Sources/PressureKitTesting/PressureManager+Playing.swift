public import PressureKit

extension PressureManager {
    /// Lets time pass on a clock that is moved by hand: all that ``PressureKit/PressureManager/run()`` would do in it has
    /// been done when this returns, reclaims included.
    ///
    /// For a manager made with ``PressureKit/PressureConfiguration/testing(disk:clock:sources:)`` and this very clock.
    /// Suspends; takes as long as the work does, not as long as the time.
    ///
    /// - Parameters:
    ///   - duration: How much time passes.
    ///   - clock: The manager's clock.
    /// - Returns: the level at the end.
    @discardableResult
    public func watch(for duration: Duration, on clock: ManualClock) async -> PressureLevel {
        // Nothing that is thrown: the work throws nothing.
        let level = try? await BlockingPool.shared.run { self.pass(duration, on: clock) }
        return level ?? self.level
    }

    /// Plays a marble diagram from where its clock is to its end.
    ///
    /// ```swift
    /// let marbles = MarbleSource("nnwwcc", clock: clock)
    /// let configuration = PressureConfiguration.testing(clock: clock, sources: [marbles.pressureSource])
    /// let manager = try PressureManager(configuration: configuration)
    /// #expect(await manager.play(marbles) == "nnwwcc")
    /// ```
    ///
    /// For a manager that has the source among its `sources`, and its clock. Suspends.
    ///
    /// - Parameter source: The source that the manager watches.
    /// - Returns: the level at the end of each tick, in the letters of the diagram. It rises with the signal; it falls
    ///   later, and one level at a time.
    @discardableResult
    public func play(_ source: MarbleSource) async -> String {
        var levels = ""
        while !source.isOver {
            switch await watch(for: source.tick, on: source.clock) {
            case .normal: levels += "n"
            case .warning: levels += "w"
            case .critical: levels += "c"
            }
        }
        return levels
    }

    private func pass(_ duration: Duration, on clock: ManualClock) -> PressureLevel {
        let end = clock.now() + duration
        while clock.now() < end {
            var pause = drive()
            driveDeferredWork()
            if let cleaning = driveCleaning() { pause = min(pause, cleaning) }
            // A sample that is wanted at once is taken a moment later: time has to pass.
            clock.advance(by: min(max(pause, .milliseconds(1)), end - clock.now()))
        }
        return level
    }
}
