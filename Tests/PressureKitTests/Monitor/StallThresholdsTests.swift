#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

@Suite struct StallThresholdsTests {
    /// What is changed, and a word of what is said about it.
    private static let contradictions: [(change: @Sendable (inout StallThresholds) -> Void, word: String)] = [
        ({ $0.window = .milliseconds(499) }, "window"),
        ({ $0.window = .seconds(11) }, "window"),
        ({ $0.warning = .zero }, "warning"),
        ({ $0.warning = .seconds(3) }, "warning"),
        ({ $0.critical = .seconds(3) }, "critical"),
        // Pitfall 29: critical must be the larger one, or it comes first.
        ({ $0.critical = .milliseconds(150) }, "critical"),
        ({ $0.polledWarning = 0.2 }, "polledWarning"),
        ({ $0.polledWarning = .nan }, "polledWarning"),
        ({ $0.polledCritical = 1.1 }, "polledCritical"),
        ({ $0.strangersBelow = -0.1 }, "strangersBelow"),
        ({ $0.thrashingAbove = 1.5 }, "thrashingAbove"),
        ({ $0.thrashing = 0 }, "thrashing"),
        ({ $0.thrashing = .nan }, "thrashing"),
    ]

    @Test(arguments: contradictions.indices)
    func aContradictionIsNamed(index: Int) throws {
        var thresholds = PressureThresholds()
        Self.contradictions[index].change(&thresholds.stall)
        let error = try #require(throws: PressureError.self) { try thresholds.validate() }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains(Self.contradictions[index].word), "\(error.message)")
    }

    @Test func theDefaultsAreValid() throws { try PressureThresholds().validate() }
}
#endif
