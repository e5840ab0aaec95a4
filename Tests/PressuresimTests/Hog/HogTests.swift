import PressureKit
import Testing

@testable import pressuresim

@Suite struct HogGuardTests {
    private static let host = MemoryRoom.host(available: .gibibytes(6), total: .gibibytes(8))

    @Test func takesWhatLeavesEnoughForOthers() throws {
        try HogGuard.check(ceiling: .gibibytes(5), rooms: [Self.host])
        // A twentieth of 8 GiB is left.
        let most = ByteCount.gibibytes(6) - .bytes((8 << 30) / 20)
        try HogGuard.check(ceiling: most, rooms: [Self.host])
        #expect(throws: EnvironmentRefusal.self) {
            try HogGuard.check(ceiling: most + .bytes(1), rooms: [Self.host])
        }
    }

    @Test func theTightestPlaceDecidesAndIsNamed() {
        let group = MemoryRoom.cgroup("/app", available: .mebibytes(100), limit: .mebibytes(256))
        let error = #expect(throws: EnvironmentRefusal.self) {
            try HogGuard.check(ceiling: .mebibytes(200), rooms: [Self.host, group])
        }
        #expect(
            error?.message == """
                200.0 MiB would endanger cgroup /app: 100.0 MiB of 256.0 MiB are available, and 12.8 MiB are to be left. \
                Take at most 87.2 MiB, or say --force, and processes may be killed.
                """
        )
    }

    @Test func whereNothingIsLeftNothingIsOffered() {
        let group = MemoryRoom.cgroup("/app", available: .mebibytes(1), limit: .mebibytes(256))
        let error = #expect(throws: EnvironmentRefusal.self) {
            try HogGuard.check(ceiling: .mebibytes(1), rooms: [group])
        }
        #expect(error?.message.contains("Take nothing") == true)
    }

    /// Small machines keep what the scenarios' fills keep, large ones do not waste gigabytes.
    @Test(arguments: [(ByteCount.gibibytes(1), 192), (.gibibytes(8), 409), (.gibibytes(512), 512)])
    func theReserveHasBounds(total: ByteCount, mebibytes: Int) {
        #expect(MemoryRoom.host(available: .zero, total: total).reserve.bytes >> 20 == mebibytes)
    }
}

@Suite struct HogTests {
    private func run(_ hog: Hog, rooms: @escaping () -> [MemoryRoom] = { [] }) -> Hog.Outcome {
        let clock = StepClock()
        return hog.run(clock: clock, rooms: rooms, pause: { clock.advance(by: $0) })
    }

    @Test(arguments: HogContent.allCases)
    func reallyTakesTheMemory(content: HogContent) {
        let hog = Hog(
            pace: HogPace(rate: 1e9, ceiling: .mebibytes(48), hold: .seconds(5)),
            content: content,
            isForced: false
        )
        let before = ProcessMemory.resident
        let clock = StepClock()
        let most = Lock(ByteCount.zero)
        let outcome = hog.run(clock: clock, rooms: { [] }) { duration in
            most.withLock { $0 = max($0, ProcessMemory.resident) }
            clock.advance(by: duration)
        }
        #expect(outcome.taken == .mebibytes(48))
        #expect(outcome.held == .seconds(5))
        #expect(abs(outcome.filling.seconds - 0.0503) < 0.001, "\(outcome.filling)")
        #expect(most.withLock { $0 } >= before + .mebibytes(40))
    }

    @Test func stopsWhenOthersNeedTheMemory() {
        let hog = Hog(
            pace: HogPace(rate: 1e9, ceiling: .mebibytes(64), hold: .zero),
            content: .compressible,
            isForced: false
        )
        let asked = Lock(0)
        let rooms = {
            let count = asked.withLock {
                $0 += 1
                return $0
            }
            return [MemoryRoom.host(available: .mebibytes(count < 3 ? 1000 : 100), total: .gibibytes(2))]
        }
        let outcome = run(hog, rooms: rooms)
        #expect(outcome.stoppedBy?.name == "the host")
        #expect(outcome.taken.bytes == 3 * hog.pace.step)
        var forced = hog
        forced.isForced = true
        #expect(run(forced, rooms: rooms).taken == .mebibytes(64))
    }
}

@Suite struct AmountsTests {
    @Test func unitsAreThoseOfScenarios() throws {
        #expect(try Amounts.size("300MiB") == .mebibytes(300))
        #expect(try Amounts.rate("500MB/s") == 500e6)
        #expect(try Amounts.duration("1.5s") == .milliseconds(1500))
    }

    @Test(arguments: ["", "5", "5MB", "-5MiB", "0B", "2000GiB"])
    func whatIsNoSizeIsRefused(text: String) {
        #expect(throws: (any Error).self) { try Amounts.size(text) }
    }
}
