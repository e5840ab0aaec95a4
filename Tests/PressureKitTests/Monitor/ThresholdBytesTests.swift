#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

@Suite struct ThresholdBytesTests {
    private let bytes = PressureThresholds().bytes(of: .mebibytes(1000))

    /// Available MiB, the level before, the level it means.
    @Test(arguments: [
        (1000, PressureLevel.normal, PressureLevel.normal), (201, .normal, .normal), (200, .normal, .warning),
        (101, .normal, .warning), (100, .normal, .critical), (0, .normal, .critical),
        (249, .warning, .warning), (250, .warning, .normal), (101, .warning, .warning), (100, .warning, .critical),
        (149, .critical, .critical), (150, .critical, .warning), (249, .critical, .warning), (250, .critical, .normal),
    ])
    func aLevelIsEnteredAndLeftAtDifferentThresholds(available: Int, held: PressureLevel, level: PressureLevel) {
        #expect(bytes.level(available: .mebibytes(available), held: held) == level)
    }

    /// Available MiB, the level, the MiB wanted.
    @Test(arguments: [
        (200, PressureLevel.warning, 50), (0, .warning, 250), (249, .warning, 1), (250, .warning, 0),
        (900, .warning, 0),
        // Twice the way to 150, but never less than the way to 250.
        (100, .critical, 150), (50, .critical, 200), (0, .critical, 300), (149, .critical, 101), (150, .critical, 100),
        (900, .critical, 0), (0, .normal, 0),
    ])
    func theGoalLeadsOutOfTheLevel(available: Int, level: PressureLevel, goal: Int) {
        #expect(bytes.goal(available: .mebibytes(available), at: level) == .mebibytes(goal))
    }

    @Test func theScoreHasItsThirdsAtTheThresholds() {
        func score(_ available: Int) -> Double {
            bytes.score(available: .mebibytes(available), limit: .mebibytes(1000))
        }
        #expect(score(1000) == 0)
        #expect(abs(score(600) - 1.0 / 6) < 1e-9)
        #expect(abs(score(200) - 1.0 / 3) < 1e-9)
        #expect(abs(score(100) - 2.0 / 3) < 1e-9)
        #expect(score(0) == 1)
    }

    @Test(arguments: [1, 2, 3, 100, 1 << 20, 1 << 28, 1 << 40, 1 << 60])
    func theScoreOnlyGrowsWhileMemoryShrinks(limit: Int) {
        let bytes = PressureThresholds().bytes(of: .bytes(limit))
        var last = 0.0
        for step in 0...200 {
            let available = limit - Int(Double(limit) * Double(step) / 200)
            let score = bytes.score(available: .bytes(max(0, available)), limit: .bytes(limit))
            #expect(score >= last - 1e-9 && score <= 1)
            last = score
        }
        #expect(last == 1)
    }
}
#endif
