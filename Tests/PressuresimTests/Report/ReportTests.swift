import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct QuantitiesTests {
    @Test(arguments: [
        (0, "0 s"), (5e-9, "5.00 ns"), (340e-9, "340 ns"), (4.2e-6, "4.20 µs"), (99.96e-3, "100 ms"),
        (12.5, "12.5 s"),
        (3661, "3661 s"),
    ])
    func durationsHaveThreeDigits(seconds: Double, text: String) { #expect(Quantities.duration(seconds) == text) }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
    func countsHaveGroups(number: Int, text: String) { #expect(Quantities.count(number) == text) }

    @Test func ratesAndSharesHaveUnits() {
        #expect(Quantities.rate(148e6) == "148 MB/s")
        #expect(Quantities.rate(2.25e9) == "2.25 GB/s")
        #expect(Quantities.percent(0.986) == "98.6 %")
        #expect(Quantities.fixed(-0.001, 2) == "0.00")
        #expect(Quantities.fixed(-1.5, 1) == "-1.5")
        #expect(Quantities.count(1, "value") == "1 value")
        #expect(Quantities.count(2, "value") == "2 values")
    }
}

@Suite struct LatenciesTests {
    @Test func percentilesAreThoseOfWhatWasRecorded() throws {
        var first = Latencies()
        var second = Latencies()
        for microseconds in 1...1000 {
            if microseconds.isMultiple(of: 2) {
                first.record(nanoseconds: Int64(microseconds) * 1000)
            } else {
                second.record(nanoseconds: Int64(microseconds) * 1000)
            }
        }
        first.add(second)
        #expect(first.count == 1000)
        #expect(first.total == 500_500_000)
        for (percent, expected) in [(50.0, 500e-6), (99, 990e-6), (100, 1000e-6)] {
            let value = try #require(first.percentile(percent))
            #expect(abs(value - expected) / expected < 0.002, "\(percent): \(value)")
        }
        #expect(Latencies().percentile(50) == nil)
    }
}

@Suite struct StyleTests {
    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true),
            (true, ["TERM": "dumb"], false), (true, ["TERM": "xterm"], true),
        ] as [(Bool, [String: String], Bool)]
    )
    func colourNeedsATerminalAndNobodyWhoRefuses(isTerminal: Bool, environment: [String: String], isColoured: Bool) {
        let style = Style.detect(isTerminal: isTerminal, environment: environment)
        #expect(style.isColoured == isColoured)
        #expect(style.bad("x").contains("\u{1B}") == isColoured)
    }

    @Test func columnsAreAligned() {
        var table = TextTable([.left, .right, .left])
        table.add(["a", "1", "x"])
        table.add(["long", "100", ""])
        #expect(table.lines == ["a       1  x", "long  100"])
    }
}

@Suite struct AccountTests {
    /// A record such as a run leaves behind.
    private func record() throws -> RunRecord {
        var record = RunRecord(scenario: try scenario(smallScenario), file: "Scenarios/small.yaml")
        record.values = 4
        record.valueBytes = 3 << 16
        record.duration = .milliseconds(1500)
        record.verifiedAtEnd = 4
        record.tally.verified = 4
        for nanoseconds: Int64 in [50, 60, 70] { record.tally.record(.hit, nanoseconds: nanoseconds, bytes: 1) }
        record.tally.record(.restore, nanoseconds: 2_000_000, bytes: 1 << 20)
        let cause = PressureCause(origin: .simulated, source: "test", levelBefore: .normal, levelAfter: .critical)
        var report = EvictionReport.empty(cause)
        report.claimed = .mebibytes(10)
        report.returned = .mebibytes(9)
        report.copied = .mebibytes(8)
        report.stored = .mebibytes(2)
        report.duration = .milliseconds(250)
        record.steps = [
            .init(
                number: 1,
                title: "access shelf/* in order",
                start: .zero,
                duration: .milliseconds(3),
                outcome: "3 hits"
            ),
            .init(
                number: 2,
                title: "critical warning",
                start: .milliseconds(10),
                duration: .milliseconds(250),
                outcome: "0 values out",
                reclaim: ReclaimRecord(report, at: .milliseconds(10), rssFall: .mebibytes(9))
            ),
        ]
        return record
    }

    private func account(_ record: RunRecord, _ style: Style = .plain) -> String {
        let figures = Figures(record)
        let outcomes = record.scenario.expectations.map { $0.evaluate(figures.values) }
        return Account(record: record, figures: figures, outcomes: outcomes, style: style).text
    }

    @Test func tellsWhatHappenedWhyAndWhatItCost() throws {
        let text = account(try record())
        for part in [
            "Small  Scenarios/small.yaml, seed 5", "critical warning", "why: normal → critical: simulated\n",
            "claimed 10.0 MiB, returned 9.0 MiB (90.0 %), VmRSS fell by 9.0 MiB", "read, restored", "2.00 ms",
            "written 8.0 MiB as 2.0 MiB: ratio 0.25", "eviction 41.9 MB/s", "✓ lost == 0",
            "4 values compared byte for byte with the source at the end: lost = 0. The expectation holds.",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(!text.contains("\u{1B}"))
        #expect(account(try record(), Style(isColoured: true)).contains("\u{1B}[32m"))
    }

    /// What is compressed in memory is not on the disk, and counts in the ratio.
    @Test func whatIsCompressedInMemoryIsToldApart() throws {
        var record = try record()
        var report = EvictionReport.empty(
            PressureCause(origin: .simulated, source: "test", levelBefore: .normal, levelAfter: .critical)
        )
        report.copied = .mebibytes(8)
        report.stored = .mebibytes(1)
        report.heldInCompressedTier = .mebibytes(3)
        var reclaim = ReclaimRecord(report, at: .zero, rssFall: nil)
        reclaim.evicted = [
            .init(path: "a", outcome: "compressed", values: 6, bytes: 3 << 20, storedBytes: 3 << 20),
            .init(path: "b", outcome: "spilled", values: 2, bytes: 2 << 20, storedBytes: 1 << 20),
        ]
        record.steps[1].reclaim = reclaim
        record.evictedOtherwise = 5
        record.outflow.copiedBytes = 10 << 20
        record.rewritten = [
            .init(path: "shelf/texts-*", from: 4 << 20, to: 1 << 20),
            .init(path: "shelf/pictures-*", from: 3 << 20, to: 3 << 20),
        ]
        let figures = Figures(record)
        #expect(figures[.compressionRatio] == 0.5)
        #expect(figures[.heldCompressed] == Double(3 << 20))
        #expect((figures[.evicted], figures[.evictedInReclaims], figures[.evictedOtherwise]) == (13, 8, 5))
        #expect(figures[.written] == Double(10 << 20))
        let text = account(record)
        for part in [
            "compressed 3.0 MiB in 3.0 MiB in memory: 6 a", "spilled 2.0 MiB in 1.0 MiB on disk: 2 b",
            "written 8.0 MiB as 1.0 MiB and 3.0 MiB in memory: ratio 0.50, 2.0 MiB more ahead or without a reclaim",
            "compressed in idle time: shelf/texts-*, 4.0 MiB → 1.0 MiB",
            "tried in idle time: shelf/pictures-*, 3.0 MiB, does not shrink",
            "5 values left memory without a reclaim: for a cache's own limit, for room, or in the background",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test func tellsWhatWasLost() throws {
        var record = try record()
        for index in 0..<6 {
            record.tally.losses.append(.init(path: "shelf/kept-\(index)", reason: "its bytes are wrong"))
        }
        let text = account(record)
        #expect(text.contains("LOST shelf/kept-0: its bytes are wrong"))
        #expect(text.contains("and 2 more"))
        #expect(text.contains("✗ lost == 0  6"))
        #expect(text.contains("lost = 6. 1 expectation of 1 failed."))
    }

    /// Several records of one step, as of `together`, are told apart; what happened by itself has no number.
    @Test func eachLineHasANumberOfItsOwn() throws {
        var record = try record()
        let step = record.steps[1]
        record.steps.append(step)
        record.steps.append(.init(number: nil, title: "by itself", start: .zero, duration: .zero, outcome: ""))
        #expect(record.stepNumbers == ["1", "2.1", "2.2", nil])
        let lines = account(record).split(separator: "\n")
        for number in ["  1  ", "2.1  ", "2.2  ", "  !  "] {
            #expect(lines.contains { $0.contains(number) }, "\(number)")
        }
    }

    @Test func oneMoreIsOne() throws {
        var record = try record()
        let names = ["a", "b", "c", "d", "e"]
        record.steps[1].reclaim?.evicted = names.map {
            .init(path: "shelf/\($0)", outcome: "dropped", values: 1, bytes: 1, storedBytes: 0)
        }
        #expect(account(record).contains("1 d, and 1 more kind\n"))
        record.steps[1].reclaim?.evicted.append(
            .init(path: "shelf/f", outcome: "dropped", values: 1, bytes: 1, storedBytes: 0)
        )
        #expect(account(record).contains("and 2 more kinds\n"))
        record.isVirtual = true
        #expect(account(record).contains("played in 1.50 s of virtual time\n"))
    }

    @Test func figuresAreThoseOfTheRecord() throws {
        let figures = Figures(try record())
        #expect(figures[.hits] == 3)
        #expect(figures[.restores] == 1)
        #expect(figures[.loadP50] == nil)
        #expect(figures[.returnedOverClaimed] == 0.9)
        #expect(figures[.compressionRatio] == 0.25)
        #expect(figures[.evictRate] == Double(10 << 20) / 0.25)
        #expect(figures[.reclaimMax] == 0.25)
        #expect(figures[.realReclaims] == 0)
        #expect(figures[.duration] == 1.5)
    }

    /// Scripts read these keys: a change of this list is a change of the format.
    @Test func theKeysOfTheJSONReportAreStable() throws {
        let record = try record()
        let figures = Figures(record)
        let outcomes = record.scenario.expectations.map { $0.evaluate(figures.values) }
        let data = try JSONReport(record, figures, outcomes).data()
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            json.keys.sorted()
                == [
                    "clock", "expectations", "figures", "format_version", "interrupted", "losses", "passed", "scenario",
                    "steps", "tool_version",
                ]
        )
        #expect(json["passed"] as? Bool == true)
        #expect((json["scenario"] as? [String: Any])?.keys.sorted() == ["description", "file", "name", "seed"])
        let all = try #require(json["figures"] as? [String: [String: Any]])
        #expect(all.keys.sorted() == Figure.allCases.map(\.rawValue).sorted())
        #expect(all["load_p50"]?["value"] is NSNull)
        #expect(all["claimed"]?["value"] as? Double == Double(10 << 20))
        #expect(all["claimed"]?["unit"] as? String == "bytes")
        let steps = try #require(json["steps"] as? [[String: Any]])
        #expect(
            steps[1].keys.sorted() == ["at_seconds", "duration_seconds", "number", "outcome", "reclaim", "title"]
        )
        #expect(
            (steps[1]["reclaim"] as? [String: Any])?.keys.sorted() == [
                "at_seconds", "cause", "claimed_bytes", "compressed_bytes", "copied_bytes", "duration_seconds",
                "evicted", "failures",
                "origin", "returned_bytes", "rss_fall_bytes", "skipped", "stored_bytes", "trimmed",
            ]
        )
        let expectations = try #require(json["expectations"] as? [[String: Any]])
        #expect(expectations.first?.keys.sorted() == ["expectation", "holds", "line", "value"])
    }
}

extension EvictionReport {
    /// A report of a reclaim that did nothing; only the library makes others.
    static func empty(_ cause: PressureCause) -> EvictionReport { EvictionReport(cause: cause) }
}
