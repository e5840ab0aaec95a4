import PressureKit
import PressureKitTesting
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// A loader takes as long as the scenario says, whatever making its bytes takes.
@Suite struct SimulatedLoaderTests {
    /// Time that passes when somebody spends it.
    private final class ManualPace: Pace {
        let manual = ManualClock()
        private let pauses = Lock<[Duration]>([])

        var spent: [Duration] { pauses.withLock { $0 } }
        var clock: any MonotonicClock { manual }
        var isVirtual: Bool { false }
        func sleep(_ duration: Duration) {}
        func spend(_ duration: Duration) {
            pauses.withLock { $0.append(duration) }
            manual.advance(by: duration)
        }
        func access() {}
        func goesOn() -> Bool { true }
        func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {}
        func repeatedly(_ body: @escaping @Sendable () -> Duration) {}
        func endRepetitions() {}
    }

    private let pace = ManualPace()

    private func loader(_ spec: LoaderSpec) -> SimulatedLoader {
        SimulatedLoader(spec, seed: 1, stream: 1, isActive: ActiveFlag(), pace: pace)
    }

    private func time(_ loader: SimulatedLoader, _ byteCount: Int, making: Duration) -> Duration {
        let start = pace.clock.now()
        try? loader.load(byteCount) { pace.manual.advance(by: making) }
        return pace.clock.now() - start
    }

    @Test func makingTheBytesIsPartOfTheCost() {
        let loader = loader(LoaderSpec(cost: .milliseconds(50), failure: 0))
        #expect(time(loader, 1_024_000, making: .milliseconds(10)) == .milliseconds(50))
        #expect(pace.spent == [.milliseconds(40)])
        // Now it is known what a value takes: it is made at the end, and a larger one begun earlier.
        #expect(time(loader, 1_024_000, making: .milliseconds(10)) == .milliseconds(50))
        #expect(time(loader, 2_048_000, making: .milliseconds(20)) == .milliseconds(50))
        #expect(pace.spent == [40, 40, 30].map { .milliseconds($0) })
        // What it takes has changed: less is made up for, more cannot be.
        #expect(time(loader, 1_024_000, making: .milliseconds(1)) == .milliseconds(50))
        #expect(time(loader, 1_024_000, making: .milliseconds(60)) == .milliseconds(109))
    }

    @Test func aLoaderCannotBeQuickerThanItsBytes() {
        let loader = loader(LoaderSpec(cost: .milliseconds(1), failure: 0))
        for _ in 0..<3 { #expect(time(loader, 1_024_000, making: .milliseconds(10)) == .milliseconds(10)) }
        #expect(pace.spent.isEmpty)
    }

    @Test func aLoadThatFailsTakesAsLongAndMakesNothing() {
        let loader = loader(LoaderSpec(cost: .milliseconds(5), failure: 1))
        #expect(throws: SimulatedLoaderFailure.self) {
            try loader.load(100) { Issue.record("nothing is to be made") }
        }
        #expect(pace.spent == [.milliseconds(5)])
    }
}
