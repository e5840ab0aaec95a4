import PressureKit
import Testing

@testable import pressuresim

@Suite struct ProgressTests {
    private func status(_ seconds: Int, accesses: Int, written: Int = 0, spilled: ByteCount = .zero) -> Progress.Status
    {
        Progress.Status(
            point: Timeline.Point(
                at: .seconds(seconds),
                step: 1,
                level: .warning,
                resident: .mebibytes(10),
                clean: .zero,
                compressed: .zero,
                spilled: spilled,
                stored: .zero,
                rss: nil,
                accesses: accesses,
                misses: 0
            ),
            written: written,
            read: 0,
            at: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
        )
    }

    @Test func theLineTellsWhereValuesAreAndWhatHappensInASecond() {
        let progress = Progress(isTerminal: false)
        progress.begin("step 2 of 9: background")
        progress.advance(to: 5, of: 1_000)
        let line = progress.line(
            status(3, accesses: 500, written: 8_000_000, spilled: .mebibytes(4)),
            since: status(1, accesses: 100)
        )
        #expect(
            line
                == "step 2 of 9: background · 5 of 1,000 · warning · 10.0 MiB in memory, 4.0 MiB spilled · 200 reads/s"
                + " · out 4.00 MB/s"
        )
        #expect(progress.line(nil) == "step 2 of 9: background · 5 of 1,000")
    }

    /// In a pipe, if it was asked for: the first at once, then one whenever the time has come.
    @Test func linesThatStayComeEveryFewSeconds() {
        let written = Lock<[String]>([])
        let progress = Progress(isTerminal: false, linesEvery: .seconds(3)) { text in
            written.withLock { $0.append(text) }
        }
        progress.begin("before the start")
        #expect(written.withLock { $0 }.isEmpty, "nobody has begun")
        progress.start { nil }
        progress.begin("LRU")
        progress.advance(to: 2, of: 6)
        // The thread that draws may have been quicker.
        let first = written.withLock { $0.first } ?? ""
        #expect(first.hasSuffix(" s: LRU\n") || first.hasSuffix(" s: before the start\n"), "\(first)")
        let now = SystemClock().now()
        for second in 1...10 { progress.tell(at: now + .seconds(100 + second), nil) }
        progress.stop()
        progress.tell(at: now + .seconds(1000), nil)
        let lines = written.withLock { $0 }.filter { $0.contains("2 of 6") && !$0.hasPrefix("0 s") }
        #expect(lines.count == 4, "of ten seconds the first, and each third after it: \(lines)")
        #expect(lines.allSatisfy { $0.hasSuffix(" s: LRU · 2 of 6\n") })
    }

    @Test func aLongTitleGivesWayToTheNumbers() {
        let progress = Progress(isTerminal: false)
        progress.begin("step 1 of 1: " + String(repeating: "together ", count: 40))
        let line = progress.line(status(2, accesses: 20_000), since: status(1, accesses: 0))
        #expect(line.count == 118)
        #expect(line.hasPrefix("step 1 of 1: together"))
        #expect(line.hasSuffix("… · warning · 10.0 MiB in memory · 20,000 reads/s"))
    }
}
