#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import SpillStore

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
                .init(start: ranges[0], finish: nil), .init(start: ranges[1], finish: ranges[0], finishBytes: 8 << 20),
                .init(start: ranges[2], finish: ranges[1], finishBytes: 8 << 20),
            ]
        )
        #expect(window.drain() == .init(start: nil, finish: ranges[2], finishBytes: 8 << 20))
        #expect(window.drain() == .init())
    }

    private static let lengths: [(ByteCount?, Int)] = [
        (nil, 8 << 20), (.gibibytes(4), 8 << 20), (.mebibytes(256), 8 << 20), (.mebibytes(64), 2 << 20),
        (.mebibytes(16), 512 << 10), (.zero, 512 << 10),
    ]

    @Test(arguments: lengths)
    func aSmallLimitHasShortWindows(limit: ByteCount?, length: Int) {
        #expect(WritebackWindow.length(under: limit) == length)
        var window = WritebackWindow(length: length)
        #expect(window.wrote(at: 0, count: length - 1) == .init())
        #expect(window.wrote(at: Int64(length), count: 1).start == Range(lower: 0, upper: Int64(length) + 1))
    }

    /// What nobody waits for comes in a trickle, and what is in a window takes the place of values.
    @Test(arguments: [(8 << 20, 1 << 20), (2 << 20, 512 << 10), (512 << 10, 512 << 10), (1000, 1000)])
    func whatIsWrittenSteadilyHasShortWindows(length: Int, steady: Int) {
        var window = WritebackWindow(length: length)
        window.isSteady = true
        #expect(window.wrote(at: 0, count: steady - 1) == .init())
        #expect(window.wrote(at: Int64(steady), count: 1).start == Range(lower: 0, upper: Int64(steady) + 1))
        // In haste the rest of a window is as long as ever.
        window.isSteady = false
        let rest = window.wrote(at: 0, count: length - 1)
        #expect(rest == .init())
        #expect(window.wrote(at: Int64(length), count: 1).start?.count == Int64(length) + 1)
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

    @Test func countsWhatIsUnderWay() {
        var window = WritebackWindow(length: 100, most: 250)
        #expect(window.wrote(at: 0, count: 90) == .init())
        #expect(window.underWay == 90 && window.hasOpen && !window.isOver)
        _ = window.wrote(at: 90, count: 90)
        let second = window.wrote(at: 180, count: 120)
        #expect(window.underWay == 300 && window.isOver)
        #expect(second.finishBytes == 180)
        window.finished(second)
        #expect(window.underWay == 120 && !window.isOver)
        _ = window.wrote(at: 300, count: 10)
        let rest = window.drain()
        #expect(rest.finishBytes == 130 && !window.hasOpen)
        window.finished(rest)
        #expect(window.underWay == 0)
        #expect(window.drain() == .init())
    }

    /// However many threads write, no more is on its way to the device than the limit on memory allows, and a chunk of
    /// each thread.
    @Test func threadsTogetherKeepToTheBound() async throws {
        let threads = 8
        let most = 1 << 20
        let limits = SpillLimits(
            freeSpaceFloor: .zero,
            bypassPageCache: true,
            writebackWindow: 512 << 10,
            mostWriteback: most
        )
        let fixture = try SpillFixture(FaultyFileSystem.disk(.none), limits: limits)
        let file = fixture.file
        let worst = Shared(0)
        let pool = BlockingPool(threads: threads)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    try await pool.run {
                        let encoder = try ChunkEncoder()
                        let bytes = Content.noise.bytes(262_144, seed: UInt64(thread))
                        for _ in 0..<40 {
                            _ = unsafe try bytes.withUnsafeBytes { bytes throws(SpillFailure) in
                                unsafe try file.write(bytes, with: encoder, compress: .stored, assurance: .taken)
                            }
                            let underWay = file.state.withLock { $0.window.underWay }
                            worst.change { $0 = max($0, underWay) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(worst.value <= most + threads * 262_144, "\(worst.value) bytes were under way")
        #expect(worst.value > most / 2)
        file.drainWriteback()
        #expect(file.state.withLock { $0.window.underWay } == 0)
    }

    @Test func onlyAFileThatIsToBypassThePageCacheWritesBack() throws {
        for bypasses in [true, false] {
            let faulty = FaultyFileSystem.disk(.none)
            let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: bypasses)
            let fixture = try SpillFixture(faulty, limits: limits)
            for seed in UInt64(0)..<70 {
                _ = try fixture.write(Content.noise.bytes(262_144, seed: seed), .stored, assurance: .taken)
            }
            #expect(faulty.calls(.writeback) == (bypasses ? 3 : 0))
            fixture.file.drainWriteback()
            #expect(faulty.calls(.writeback) == (bypasses ? 5 : 0))
        }
    }
}
#endif
