#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import PressureKitTestSupport
import Testing

@Suite struct PressureThresholdsTests {
    typealias Band = PressureThresholds.Band

    /// Limit, then enter and leave of warning, then of critical, in MiB.
    @Test(arguments: [
        // 64 MiB as the least for critical, but not above 3/4 of warning.
        (100, [20, 25, 15, 22]), (256, [51, 64, 38, 57]), (400, [80, 100, 60, 90]), (500, [100, 125, 64, 96]),
        (1000, [200, 250, 100, 150]), (10_000, [2000, 2500, 1000, 1500]),
        // 4 GiB and 1 GiB as the most, and leave moves along.
        (15 << 10, [3072, 3840, 1024, 1536]), (64 << 10, [4096, 5120, 1024, 1536]),
        (1 << 20, [4096, 5120, 1024, 1536]),
    ])
    func theDefaultsInBytes(limit: Int, expected: [Int]) {
        let bytes = PressureThresholds().bytes(of: .mebibytes(limit))
        let found = [bytes.warningEnter, bytes.warningLeave, bytes.criticalEnter, bytes.criticalLeave]
        #expect(found.map { $0.bytes >> 20 } == expected)
    }

    /// Whatever is configured, critical lies below warning, and every level can be left.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func validThresholdsAlwaysWorkTogether(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var tried = 0
        while tried < 500 {
            let limit = ByteCount(bytes: 1 << Int.random(in: 12...60, using: &random))
            let thresholds = PressureThresholds(warning: band(&random), critical: band(&random))
            guard (try? thresholds.validate()) != nil else { continue }
            tried += 1
            let bytes = thresholds.bytes(of: limit)
            let context: Comment = "seed \(seed): \(thresholds) of \(limit)"
            #expect(bytes.criticalEnter < bytes.warningEnter, context)
            #expect(bytes.criticalEnter < bytes.criticalLeave, context)
            #expect(bytes.warningEnter < bytes.warningLeave, context)
            #expect(bytes.criticalLeave <= bytes.warningLeave, context)
            #expect(bytes.warningLeave < limit, context)
            #expect(bytes.criticalEnter > .zero, context)
        }
    }

    private func band(_ random: inout SeededGenerator) -> Band {
        let enter = Double.random(in: 0.01...0.98, using: &random)
        return Band(
            enter: enter,
            leave: Double.random(in: enter...0.99, using: &random).nextUp,
            atMost: Bool.random(using: &random) ? .mebibytes(.random(in: 1...10_000, using: &random)) : nil,
            atLeast: Bool.random(using: &random) ? .mebibytes(.random(in: 0...10_000, using: &random)) : .zero
        )
    }

    @Test(arguments: [
        PressureThresholds(),
        PressureThresholds(warning: Band(enter: 0.5, leave: 0.9), critical: Band(enter: 0.1, leave: 0.9)),
        PressureThresholds(warning: Band(enter: 0.2, leave: 0.21), critical: Band(enter: 0.19, leave: 0.2)),
        PressureThresholds(
            warning: Band(enter: 0.2, leave: 0.3),
            critical: Band(enter: 0.1, leave: 0.2, atMost: .bytes(1))
        ),
    ])
    func consistentThresholdsAreAccepted(_ thresholds: PressureThresholds) throws {
        try thresholds.validate()
    }

    static let critical = Band(enter: 0.10, leave: 0.15)
    static let warning = Band(enter: 0.20, leave: 0.25)

    @Test(arguments: [
        (Band(enter: 0, leave: 0.25), critical, "warning.enter 0.0 must be more than 0 and less than 1"),
        (Band(enter: -0.2, leave: 0.25), critical, "warning.enter -0.2"),
        (Band(enter: 1, leave: 1.5), critical, "warning.enter 1.0"),
        (Band(enter: .nan, leave: 0.25), critical, "warning.enter nan"),
        (Band(enter: 0.2, leave: .nan), critical, "warning.leave nan must be more than warning.enter 0.2"),
        (Band(enter: 0.2, leave: 0.2), critical, "warning.leave 0.2 must be more than warning.enter 0.2"),
        (Band(enter: 0.2, leave: 0.1), critical, "warning.leave 0.1"),
        (Band(enter: 0.2, leave: 1), critical, "warning.leave 1.0 must be less than 1"),
        (Band(enter: 0.2, leave: .infinity), critical, "warning.leave inf must be less than 1"),
        (warning, Band(enter: 0.2, leave: 0.25), "critical.enter 0.2 must be less than warning.enter 0.2"),
        (warning, Band(enter: 0.3, leave: 0.4), "critical.enter 0.3 must be less than warning.enter 0.2"),
        (warning, Band(enter: 0.1, leave: 0.3), "critical.leave 0.3 must not be more than warning.leave 0.25"),
        (warning, Band(enter: 0.1, leave: 0.15, atLeast: .bytes(-1)), "critical.atLeast -1 B must not be negative"),
        (warning, Band(enter: 0.1, leave: 0.15, atMost: .zero), "critical.atMost 0 B must be more than 0"),
        (
            warning, Band(enter: 0.1, leave: 0.15, atMost: .mebibytes(1), atLeast: .mebibytes(2)),
            "not less than atLeast 2.0 MiB"
        ),
        (
            Band(enter: 0.2, leave: 0.25, atMost: .gibibytes(1)), critical,
            "critical.atMost nil must be less than warning.atMost 1.0 GiB"
        ),
        (
            Band(enter: 0.2, leave: 0.25, atMost: .gibibytes(1)),
            Band(enter: 0.1, leave: 0.15, atMost: .gibibytes(1)),
            "critical.atMost 1.0 GiB must be less than warning.atMost 1.0 GiB"
        ),
    ])
    func aContradictionIsNamed(warning: Band, critical: Band, message: String) throws {
        let thresholds = PressureThresholds(warning: warning, critical: critical)
        let error = try #require(throws: PressureError.self) { try thresholds.validate() }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains(message), "\(error.message)")
    }
}
#endif
