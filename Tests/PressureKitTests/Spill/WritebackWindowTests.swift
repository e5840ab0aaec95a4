import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct WritebackWindowTests {
    private typealias Range = WritebackWindow.Range

    @Test func eachFullWindowIsStartedAndTheOneBeforeItFinished() {
        var window = WritebackWindow()
        let mebibyte: Int64 = 1 << 20
        var steps: [WritebackWindow.Steps] = []
        for index in Int64(0)..<24 {
            let step = window.wrote(at: index * mebibyte, count: 1 << 20)
            if step != WritebackWindow.Steps() { steps.append(step) }
        }
        let ranges = (0..<3).map { Range(lower: $0 * 8 * mebibyte, upper: ($0 + 1) * 8 * mebibyte) }
        #expect(
            steps == [
                .init(start: ranges[0], finish: nil), .init(start: ranges[1], finish: ranges[0]),
                .init(start: ranges[2], finish: ranges[1]),
            ]
        )
        #expect(window.drain() == .init(start: nil, finish: ranges[2]))
        #expect(window.drain() == .init())
    }

    @Test(arguments: [
        (nil as ByteCount?, 8 << 20), (.gibibytes(4), 8 << 20), (.mebibytes(256), 8 << 20), (.mebibytes(64), 2 << 20),
        (.mebibytes(16), 1 << 20), (.zero, 1 << 20),
    ])
    func aSmallLimitHasShortWindows(limit: ByteCount?, length: Int) {
        #expect(WritebackWindow.length(under: limit) == length)
        var window = WritebackWindow(length: length)
        #expect(window.wrote(at: 0, count: length - 1) == .init())
        #expect(window.wrote(at: Int64(length), count: 1).start == Range(lower: 0, upper: Int64(length) + 1))
    }

    @Test func aWindowCoversWritesInAnyOrder() {
        var window = WritebackWindow()
        #expect(window.wrote(at: 500, count: 100) == .init())
        #expect(window.wrote(at: 100, count: 50) == .init())
        #expect(window.drain().finish == Range(lower: 100, upper: 600))
    }

    @Test func drainingWaitsForWhatWasStartedAndWhatWasNot() {
        var window = WritebackWindow()
        _ = window.wrote(at: 0, count: WritebackWindow.longest)
        _ = window.wrote(at: 1 << 30, count: 10)
        #expect(window.drain().finish == Range(lower: 0, upper: 1 << 30 + 10))
    }

    @Test func onlyAFileThatIsToBypassThePageCacheWritesBack() throws {
        for bypasses in [true, false] {
            let faulty = FaultyFileSystem()
            let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: bypasses)
            let fixture = try SpillFixture(faulty, limits: limits)
            for seed in UInt64(0)..<70 { _ = try fixture.write(Content.noise.bytes(262_144, seed: seed), .stored) }
            #expect(faulty.calls(.writeback) == (bypasses ? 3 : 0))
            fixture.file.drainWriteback()
            #expect(faulty.calls(.writeback) == (bypasses ? 5 : 0))
        }
    }
}
