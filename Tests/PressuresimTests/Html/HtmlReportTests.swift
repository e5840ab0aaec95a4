import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct HtmlReportTests {
    private static func text(_ record: RunRecord) -> String { RunSamples.report(record).page.text }

    @Test func saysFirstWhetherItWasAsExpected() throws {
        let text = Self.text(try RunSamples.usual())
        let verdict = try #require(text.range(of: "1 expectation of 7 failed"))
        for section in ["Memory over time", "Claimed and really freed", "How long it took", "Step by step"] {
            let heading = try #require(text.range(of: ">\(section)</h2>"), "\(section)")
            #expect(verdict.upperBound < heading.lowerBound)
        }
        #expect(text.contains("✗"))
    }

    @Test func tellsWhatTheRecordSays() throws {
        let page = try Parsed(Self.text(try RunSamples.usual()))
        for part in [
            "A photo gallery", "952 values compared byte for byte", "gallery/editor/originals-*",
            "in use, or came into use while it was being copied", "critical warning", "read, restored",
            "evict one value",
            "Linux 6.1.0", "Nothing failed.", "returned_over_claimed >= 90%", "Claimed 474.0\u{A0}MiB",
        ] { #expect(page.text.contains(part), "\(part)") }
    }

    @Test func everyChartHasATitleADescriptionAndATable() throws {
        let page = try Parsed(Self.text(try RunSamples.usual()))
        let charts = page.attributes.filter { $0["role"] == "img" }
        #expect(charts.count == 3)
        #expect(page.names.count { $0 == "desc" } == charts.count)
        #expect(page.names.count { $0 == "figure" } == charts.count)
        #expect(page.names.count { $0 == "summary" } >= charts.count)
        #expect(charts.allSatisfy { $0["tabindex"] == "0" })
    }

    @Test func nothingFromOutsideBecomesMarkup() throws {
        let usual = try Parsed(Self.text(try RunSamples.usual()))
        let hostile = try Parsed(Self.text(try RunSamples.hostile()))
        #expect(Set(hostile.names).subtracting(usual.names).subtracting(["ul", "details"]).isEmpty)
        #expect(hostile.names.count { $0 == "script" } == 1)
        #expect(!hostile.attributes.contains { $0.keys.contains { $0.hasPrefix("on") } })
    }

    @Test func aRunInWhichNothingHappenedHasAPage() throws {
        let text = Self.text(try RunSamples.empty())
        #expect(!text.contains("<svg id="))
        #expect(text.contains("Nothing failed."))
        _ = try Parsed(text)
    }

    @Test func levelsAndMarksAreOnTheCurve() throws {
        let text = Self.text(try RunSamples.usual())
        #expect(text.contains("class=\"level-critical\""))
        #expect(text.contains("class=\"hatch\""))
        #expect(text.contains("</span>level: critical, hatched</li>"))
        #expect(text.contains("</span>level: warning</li>"))
        for kind in Timeline.Mark.Kind.allCases {
            #expect(kind == .reclaim || text.contains("</svg>\n\(kind.rawValue)</li>"), "\(kind)")
        }
    }

    /// Two warnings within ten milliseconds, the second critical: each has its own.
    @Test func everyMarkHasAWord() throws {
        let page = try Parsed(Self.text(try RunSamples.usual()))
        let words = page.attributes.count { $0["class"]?.hasPrefix("mark-label") ?? false }
        let moments = page.attributes.count { $0["class"]?.hasPrefix("moment") ?? false }
        #expect(moments == 2 * 6, "on phones and on desks")
        #expect(words == moments)
        #expect(page.attributes.count { $0["class"] == "leader" } == 2 * moments)
        #expect(page.text.components(separatedBy: "critical").count > 2)
    }

    /// What has a copy and what has a loader is not mixed: which of the two the library would take, changes with what it
    /// measures from moment to moment.
    @Test func whatHasALoaderAndWhatHasACopyAreTwoColours() throws {
        let text = Self.text(try RunSamples.usual())
        for (tone, name) in [
            ("blue", "in memory, to be written first"), ("purple", "in memory, a loader makes it again"),
            ("sky", "in memory, has a copy"), ("grey", "on disk, in the state file"),
        ] {
            #expect(text.contains("class=\"area fill-\(tone)\""), "\(tone)")
            #expect(text.contains("tone-\(tone)\" aria-hidden=\"true\"></span>\(name)</li>"), "\(name)")
        }
        var record = try RunSamples.usual()
        for index in record.timeline.points.indices { record.timeline.points[index].inState = .zero }
        #expect(!Self.text(record).contains("state file"), "nothing was restored from one")
    }

    @Test func thePageSaysOfStepsWhatTheTerminalSays() throws {
        let record = try RunSamples.usual()
        let report = RunSamples.report(record)
        let page = try Parsed(report.page.text)
        let account = Account(record: record, figures: report.figures, outcomes: report.outcomes, style: .plain)
        var told = 0
        for reclaim in record.reclaims {
            for line in account.lines(reclaim, indent: "") {
                #expect(page.text.contains(line), "\(line)")
                #expect(account.text.contains(line), "\(line)")
                told += 1
            }
        }
        #expect(told >= 3 * 6)
    }

    /// Bytes that were never written are not set beside what was stored.
    @Test func whatWasStoredStandsBesideWhatWasWritten() throws {
        let page = try Parsed(Self.text(try RunSamples.usual()))
        #expect(page.text.contains("Of them written"))
        // Of three reclaims, 84 + 210 + 180 MiB: half of them originals, stored in half of that.
        #expect(page.text.components(separatedBy: "237.0 MiB").count > 2)
        #expect(page.text.contains("118.5 MiB"))
    }

    @Test func everyPageHasTheVersionAndAnUnbrokenOption() throws {
        let text = Self.text(try RunSamples.usual())
        #expect(text.contains("name=\"generator\" content=\"pressuresim \(ToolVersion.current)\""))
        #expect(text.contains("Written by pressuresim \(ToolVersion.current)"))
        #expect(text.contains("<code class=\"option\">--json</code>"))
    }

    @Test func aRunOfHoursWithThousandsOfPointsStaysASmallFile() throws {
        var record = try RunSamples.usual()
        let points = record.timeline.points
        record.timeline.points = (0..<100).flatMap { round in
            points.map { point in
                var point = point
                point.at += .seconds(12.5 * Double(round))
                return point
            }
        }
        #expect(Self.text(record).utf8.count < 250_000)
    }

    @Test func noRowOfTheCurveRepeatsTheOneBefore() throws {
        var record = try RunSamples.usual()
        let points = record.timeline.points
        record.timeline.points = [points[0], points[0], points[0], points[300]]
        let rows = try Parsed(Self.text(record)).all("data-at")
        #expect(rows.count == 2)
    }

    @Test(.timeLimit(.minutes(2))) func theCommandWritesOneFileThatNamesNoHost() async throws {
        try await withTemporaryDirectory { directory in
            let scenario = directory.appendingPathComponent("small.yaml")
            try Data(smallScenario.utf8).write(to: scenario)
            let outcome = try Tool.run(["run", scenario.path, "--virtual", "--html", "-"])
            #expect(outcome.status == 0)
            #expect(outcome.output.hasPrefix("<!DOCTYPE html>\n<html"))
            let page = try Parsed(outcome.output)
            #expect(page.text.contains("The expectation holds"))
            let host = ProcessInfo.processInfo.hostName
            #expect(["", "localhost"].contains(host) || !outcome.output.contains(host))
            let both = try Tool.run(["run", scenario.path, "--html", "-", "--json", "-"])
            #expect(both.status == 2)
        }
    }

    @Test func barsMeetWithoutAGap() {
        var latencies = Latencies()
        for power in 0..<9 { for _ in 0...power { latencies.record(nanoseconds: Int64(pow(10, Double(power)))) } }
        let bars = HtmlReport.bars(latencies)
        #expect(bars.reduce(0) { $0 + $1.count } == latencies.count)
        #expect(bars.filter { $0.count > 0 }.map(\.count) == Array(1...9))
        for (one, next) in zip(bars, bars.dropFirst()) { #expect(abs(one.upper / next.lower - 1) < 1e-9) }
        #expect(HtmlReport.bars(Latencies()).isEmpty)
    }

    @Test func restoresAreShownBySizeWhereThereAreSeveral() throws {
        let record = try RunSamples.usual()
        let text = Self.text(record)
        #expect(record.restoresBySize.classes.count == 3)
        for title in ["read, restored", "restored, 4 KiB–64 KiB", "restored, 64 KiB–1 MiB", "restored, 1 MiB–16 MiB"] {
            #expect(text.contains(">\(title)<"), "\(title)")
        }
        var one = try RunSamples.empty()
        one.tally.record(.restore, nanoseconds: 1000, bytes: 9)
        #expect(!Self.text(one).contains("restored, "))
    }

    @Test func virtualTimeSaysWhatItCannotTell() throws {
        var record = try RunSamples.usual()
        record.isVirtual = true
        for index in record.timeline.points.indices { record.timeline.points[index].rss = nil }
        let page = try Parsed(Self.text(record))
        #expect(page.text.contains("not measured in virtual time"))
        #expect(page.text.contains("durations are those of a cost model"))
        #expect(!page.text.contains("the process (VmRSS)"))
        #expect(!page.text.contains("Processor"))
        #expect(page.text.contains("1 more cannot be told in virtual time"))
    }

    @Test func aRunThatWasInterruptedIsNotSaidToHold() throws {
        var record = try RunSamples.usual()
        record.isInterrupted = true
        let text = Self.text(record)
        #expect(text.contains("– Interrupted after 9\u{A0}steps"))
        #expect(!text.contains("expectations hold"))
        // No expectation is held against it: none is red, and none is said to hold.
        #expect(text.contains("not judged: "))
        #expect(!text.contains("failed: ") && !text.contains("holds: "))
        #expect(!text.contains("✗"), "nothing is held against it")
        #expect(text.contains("not judged"))
        record.tally.losses = [.init(path: "a", reason: "gone")]
        #expect(Self.text(record).contains("✗ 1 value lost"))
    }

    @Test func thousandsOfReclaimsBecomeFewMarks() throws {
        var record = try RunSamples.usual()
        let steps = record.steps
        record.steps = (0..<300).flatMap { _ in steps }
        record.timeline.marks = (0..<3000).map { .init(at: .milliseconds(4 * $0), kind: .warning, text: "warning") }
        let text = Self.text(record)
        #expect(text.components(separatedBy: "class=\"reclaim\"").count < 20)
        #expect(text.components(separatedBy: "class=\"glyph\"").count < 300)
        #expect(text.contains("2,600 more"))
    }

    /// For the browser's tests, which need files: `PRESSUREKIT_PAGES=DIRECTORY`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] != nil))
    func writesItsPagesForTheBrowser() throws {
        let directory = URL(fileURLWithPath: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] ?? "")
        for (name, record) in try [
            ("run-usual", RunSamples.usual()), ("run-hostile", RunSamples.hostile()), ("run-empty", RunSamples.empty()),
            ("run-processes", NeighbourProcessesTests.record(killed: true)),
        ] {
            try Data(Self.text(record).utf8).write(to: directory.appendingPathComponent("\(name).html"))
        }
    }
}
