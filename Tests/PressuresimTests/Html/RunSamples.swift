import Foundation
import PressureKit

@testable import SampleContent
@testable import ScenarioLanguage
@testable import pressuresim

/// Records of runs that never took place, for pages to be made of.
enum RunSamples {
    static let machine = PageMachine(
        processor: "A processor",
        cores: 2,
        memoryBytes: 8 << 30,
        kernel: "6.1.0",
        system: "A system",
        spillDirectory: "/var/tmp",
        isOptimized: true,
        date: "2026-01-31 12:00 UTC"
    )

    /// A page of a record.
    static func report(_ record: RunRecord) -> HtmlReport {
        let figures = Figures(record)
        let outcomes = record.outcomes(figures)
        return HtmlReport(record: record, figures: figures, outcomes: outcomes, machine: machine)
    }

    /// Nothing happened: the least a page has.
    static func empty() throws -> RunRecord {
        RunRecord(scenario: try scenario(smallScenario), file: "Scenarios/small.yaml")
    }

    /// A run as they are: values are read, warned about, written, read back.
    static func usual(seed: UInt64 = 3) throws -> RunRecord {
        var random = SplitMix64(seed: seed)
        var record = try empty()
        record.scenario.name = "A photo gallery"
        record.scenario.description =
            "Thumbnails can be rendered again, originals cannot. A warning takes a quarter, a critical warning everything "
            + "that is not in use, the background the rest. Every byte comes back."
        record.scenario.expectations = try expectations
        record.values = 952
        record.valueBytes = 344 << 20
        record.duration = .seconds(12.4)
        record.verifiedAtEnd = 952
        record.verification = .seconds(1.1)
        record.tally = tally(&random)
        for index in 0..<900 {
            let size = index % 9 == 0 ? 4 << 20 : 100 << 10
            let nanoseconds = spread(Double(size) * 8, 0.4, &random)
            record.evictions.record(nanoseconds: nanoseconds)
            record.evictionsBySize.record(nanoseconds: nanoseconds, byteCount: size)
        }
        record.steps = steps
        record.residentAtStart = .mebibytes(40)
        record.residentPeak = .mebibytes(402)
        record.residentAtEnd = .mebibytes(380)
        record.spillFilePeak = .mebibytes(121)
        record.timeline.points = points(&random)
        record.timeline.marks = marks
        return record
    }

    /// The same with every name as hostile as names can be, and everything that can go wrong gone wrong.
    static func hostile() throws -> RunRecord {
        var record = try usual()
        let names = HtmlTests.hostile
        let all = names.joined(separator: " ")
        let long = String(repeating: "one-word-without-a-blank", count: 12)
        record.scenario.name = names[0] + long
        record.scenario.description = all
        record.file = "/" + names[1] + long
        record.scenario.expectations += try scenario(smallScenario).expectations
        for index in record.steps.indices {
            record.steps[index].title = names[index % names.count] + long
            record.steps[index].outcome = all
            guard var reclaim = record.steps[index].reclaim else { continue }
            reclaim.cause = all
            reclaim.failures = names
            for group in reclaim.evicted.indices { reclaim.evicted[group].path = names[group] + "/" + long }
            reclaim.skipped.append(.init(reason: names[0], values: 1, bytes: 1))
            record.steps[index].reclaim = reclaim
        }
        for index in record.timeline.marks.indices { record.timeline.marks[index].text = all }
        for name in names { record.tally.losses.append(.init(path: name + long, reason: name)) }
        record.tally.complaints = names
        record.restoreFailures = [all]
        return record
    }

    // MARK: Parts

    private static var expectations: [Expectation] {
        get throws {
            let text = smallScenario.replacingOccurrences(
                of: "lost: == 0",
                with: """
                    lost: == 0
                      returned_over_claimed: ">= 90%"
                      claimed: ">= 300MiB"
                      restore_p99: < 50ms
                      load_p99: < 1us
                      restore_rate: "> 1MB/s and < 1GB/s"
                    """
            )
            return try scenario(text).expectations
        }
    }

    /// A duration about a median, as durations are: with a long tail.
    private static func spread(_ nanoseconds: Double, _ width: Double, _ random: inout SplitMix64) -> Int64 {
        let sum = (0..<6).reduce(0.0) { total, _ in total + Double.random(in: -1...1, using: &random) }
        let tail = Int.random(in: 0..<100, using: &random) == 0 ? 5.0 : 1
        return Int64(nanoseconds * exp(sum * width) * tail)
    }

    private static func tally(_ random: inout SplitMix64) -> AccessTally {
        var tally = AccessTally()
        for _ in 0..<28_000 { tally.record(.hit, nanoseconds: spread(180, 0.3, &random), bytes: 1) }
        for _ in 0..<700 { tally.record(.load, nanoseconds: spread(2.4e6, 0.1, &random), bytes: 1) }
        for size in [14, 17, 20, 22] {
            for _ in 0..<(3 << (23 - size)) {
                tally.record(.restore, nanoseconds: spread(Double(1 << size) * 4, 0.25, &random), bytes: 1 << size)
            }
        }
        tally.verified = 28_700
        return tally
    }

    private static func reclaim(_ at: Double, _ seconds: Double, _ mebibytes: Int, _ level: PressureLevel)
        -> ReclaimRecord
    {
        let cause = PressureCause(
            origin: .simulated,
            source: "simulateMemoryWarning",
            levelBefore: .normal,
            levelAfter: level
        )
        var report = EvictionReport(cause: cause)
        report.claimed = .mebibytes(mebibytes)
        report.returned = .mebibytes(mebibytes * 97 / 100)
        report.copied = .mebibytes(mebibytes * 8 / 10)
        report.stored = .mebibytes(mebibytes * 3 / 10)
        report.duration = .seconds(seconds)
        var reclaim = ReclaimRecord(report, at: .seconds(at), rssFall: .mebibytes(mebibytes * 95 / 100))
        reclaim.evicted = [
            .init(
                path: "gallery/thumbnails-*",
                outcome: "dropped",
                values: 3 * mebibytes,
                bytes: mebibytes << 18,
                storedBytes: 0
            ),
            .init(
                path: "gallery/editor/originals-*",
                outcome: "spilled",
                values: mebibytes / 5,
                bytes: mebibytes << 19,
                storedBytes: mebibytes << 18
            ),
            .init(
                path: "gallery/editor/undo-*",
                outcome: "reused",
                values: mebibytes,
                bytes: mebibytes << 17,
                storedBytes: 0
            ),
        ]
        reclaim.skipped = [
            .init(reason: "pinned", values: 2, bytes: 3 << 20), .init(reason: "deadline", values: 1, bytes: 1 << 20),
        ]
        return reclaim
    }

    private static var steps: [RunRecord.StepRecord] {
        let titles: [(String, Double, Double, String, ReclaimRecord?)] = [
            ("access gallery/thumbnails-* in order", 0, 1.02, "480 loads", nil),
            ("access gallery/** zipf 1.0 × 20000", 1.02, 1.9, "20,000 hits", nil),
            ("warning", 2.95, 0.31, "260 values out, 3 stayed", reclaim(2.95, 0.31, 84, .warning)),
            ("access gallery/** zipf 1.0 × 4000", 3.3, 0.9, "3,720 hits, 160 loads, 120 restores", nil),
            ("critical warning", 5.1, 1.2, "700 values out, 3 stayed", reclaim(5.1, 1.2, 210, .critical)),
            ("access gallery/editor/* uniformly × 400", 6.4, 1.8, "210 restores, 190 hits", nil),
            ("background", 9.0, 0.8, "700 values out", reclaim(9.0, 0.8, 180, .warning)),
            ("foreground", 10.0, 0.4, "40 values restored ahead (42.0 MiB)", nil),
            ("access gallery/** zipf 1.0 × 4000", 10.5, 1.9, "2,900 hits, 600 loads, 500 restores", nil),
        ]
        var steps = titles.enumerated().map { index, step in
            RunRecord.StepRecord(
                number: index + 1,
                title: step.0,
                start: .seconds(step.1),
                duration: .seconds(step.2),
                outcome: step.3,
                reclaim: step.4
            )
        }
        steps[6].number = nil
        return steps
    }

    private static let marks: [Timeline.Mark] = [
        .init(at: .seconds(2.95), kind: .warning, text: "warning"),
        .init(at: .seconds(2.96), kind: .warning, text: "critical"),
        .init(at: .seconds(3.26), kind: .reclaim, text: "84 MiB"),
        .init(at: .seconds(5.1), kind: .warning, text: "critical"),
        .init(at: .seconds(6.3), kind: .reclaim, text: "210 MiB"),
        .init(at: .seconds(9), kind: .background, text: "background"),
        .init(at: .seconds(9.8), kind: .reclaim, text: "180 MiB"),
        .init(at: .seconds(10), kind: .foreground, text: "foreground"),
        .init(at: .seconds(12), kind: .relaunch, text: "relaunch"),
    ]

    private static func points(_ random: inout SplitMix64) -> [Timeline.Point] {
        // Resident, clean, compressed, spilled at a time; straight lines between, with a little noise.
        let corners: [(Double, [Double])] = [
            (0, [215, 0, 0, 0]), (1, [344, 0, 0, 0]), (2.95, [344, 40, 0, 0]), (3.26, [262, 22, 8, 66]),
            (4.6, [300, 60, 8, 40]), (5.1, [300, 90, 8, 40]), (6.3, [64, 2, 26, 206]), (8.2, [190, 120, 22, 100]),
            (9, [190, 130, 22, 100]), (9.8, [22, 6, 30, 240]), (10.4, [64, 48, 30, 200]), (12.4, [250, 140, 20, 90]),
        ]
        return stride(from: 0.0, through: 12.4, by: 0.02).map { at in
            let next = corners.firstIndex { $0.0 >= at } ?? corners.count - 1
            let (before, after) = (corners[max(next - 1, 0)], corners[next])
            let part = after.0 > before.0 ? (at - before.0) / (after.0 - before.0) : 1
            let values = zip(before.1, after.1).map { low, high in
                ByteCount.bytes(Int((low + (high - low) * part + Double.random(in: 0...1, using: &random)) * 1_048_576))
            }
            let level: PressureLevel =
                (5.1..<6.6).contains(at)
                ? .critical : (2.95..<3.7).contains(at) || (6.6..<7.4).contains(at) ? .warning : .normal
            return Timeline.Point(
                at: .seconds(at),
                step: 1,
                level: level,
                resident: values[0],
                clean: values[1],
                copied: .bytes(values[1].bytes / 3),
                reloadable: .bytes(values[0].bytes / 4),
                compressed: values[2],
                spilled: values[3],
                stored: .bytes(values[3].bytes * 2 / 5),
                inState: at < 12 ? .zero : .mebibytes(30),
                rss: values[0] + values[2] + .mebibytes(38),
                accesses: Int(at * 2000),
                misses: Int(at * 60)
            )
        }
    }
}
