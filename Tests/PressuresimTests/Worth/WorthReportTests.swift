import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import pressuresim

/// Results of measurements that never took place.
enum WorthSamples {
    static func figures(_ reads: Double, longest: Double = 0.012, use: Double = 0.95) -> WorthFigures {
        var figures = WorthFigures()
        (figures.readsPerSecond, figures.loadShare) = (reads, 0.134)
        (figures.p50, figures.p99, figures.p999, figures.longest) = (1.2e-6, 360e-6, 900e-6, longest)
        (figures.meanUse, figures.leastUse) = (use, use - 0.05)
        figures.meanAnonymousBytes = use * 230 * 1_048_576
        return figures
    }

    static func outcome(_ contender: WorthContender, _ reads: Double, warnings: Int = 0) -> WorthOutcome {
        var outcome = WorthOutcome(contender: contender, figures: figures(reads))
        outcome.curve.readsPerSecond = (0..<6).map { reads * (1 - 1 / Double($0 + 2)) }
        outcome.curve.usageBytes = (0..<6).map { (200 + $0) << 20 }
        guard contender == .kit else { return outcome }
        var library = WorthLibraryPart()
        library.told = WorthTold(warnings: warnings, criticals: 0, hooks: 3 * warnings)
        (library.loads, library.restores, library.evictions, library.level) = (1000, 20, 900, "normal")
        library.use = WorthUse(
            values: 200 << 20,
            copies: 0,
            heap: 3 << 20,
            process: 17 << 20,
            others: 1 << 20,
            pageCache: 5 << 20,
            free: 30 << 20
        )
        outcome.library = library
        return outcome
    }

    static func result(_ kind: WorthKind, _ lru: [Double], _ kit: [Double], cell: Int = 0) -> WorthResult {
        var result = WorthResult(kind: kind, cell: WorthCell.few[cell])
        result.probes = [.init(bound: 60, speed: 15_000), .init(bound: 97), .init(bound: 90, speed: 19_000)]
        result.bound = 90
        result.outcomes = zip(lru, kit).flatMap { [outcome(.lru, $0), outcome(.kit, $1, warnings: 2)] }
        return result
    }

    static var usual: WorthReport {
        WorthReport(
            plan: WorthPlan(),
            results: [
                result(.still, [19_500, 19_564, 19_700], [20_100, 21_000, 20_500]),
                result(.still, [940], [785], cell: 3),
                result(.shared2, [19_000], [19_500]),
            ]
        )
    }

    /// An LRU that no bound saves, a library that is killed, and one that reads the wrong value.
    static var bad: WorthReport {
        var hopeless = result(.swing, [], [])
        hopeless.bound = nil
        hopeless.probes = [.init(bound: 60), .init(bound: 2)]
        hopeless.outcomes = [outcome(.kit, 5000)]
        var killed = result(.still, [100, 110], [200, 210])
        killed.outcomes[1] = WorthOutcome(contender: .kit, end: .killed)
        killed.outcomes[3] = WorthOutcome(contender: .kit, end: .stuck)
        var wrong = result(.still, [100], [200], cell: 1)
        wrong.outcomes[1].wrong = 2
        wrong.outcomes[1].complaints = ["value 7 is another one <b>"]
        return WorthReport(plan: WorthPlan(), results: [hopeless, killed, wrong])
    }
}

@Suite struct WorthReportTests {
    @Test func whoReadsHowMuchIsToldWordForWord() throws {
        try Golden.expect(WorthSamples.usual.text + "\n", equals: "worth/expected.txt")
        let json = try CommandJSON.encode(WorthJSON(WorthSamples.usual))
        try Golden.expect(String(decoding: json, as: UTF8.self), equals: "worth/expected.json")
    }

    @Test func mediansAreQuotedAndTheTypicalRoundIsDrawn() throws {
        let result = try #require(WorthSamples.usual.results.first)
        #expect(result.figures(of: .lru)?.readsPerSecond == 19_564)
        #expect(result.ratio == 20_500.0 / 19_564)
        #expect(result.typical(.kit)?.figures.readsPerSecond == 20_500)
        #expect(result.bounds?.map(\.bytes) == [256 << 20 / 100 * 90])
        let equal = WorthSamples.usual.results[2]
        #expect(equal.bounds?.map(\.bytes) == Array(repeating: 256 << 20 / 100 * 90 / 2, count: 2))
        #expect(WorthReport.name(.lru, equal).hasPrefix("LRU of 115.2 MiB, 90 % together"))
        var busy = WorthResult(kind: .busy4, cell: equal.cell)
        busy.bound = 90
        busy.firstPart = 70
        let bounds = try #require(busy.bounds?.map(\.bytes))
        #expect(bounds.count == 4 && bounds.reduce(0, +) <= 256 << 20 / 10 * 9)
        #expect(bounds[0] > bounds[1] * 6 && Set(bounds.dropFirst()).count == 1)
        #expect(WorthReport.name(.lru, busy) == "LRU of 161.3 MiB and 3 × 23.0 MiB, 90 % together")
        #expect(WorthSamples.usual.isRight)
    }

    @Test func measuredAloneItIsComparedWithNobody() throws {
        var plan = WorthPlan()
        (plan.isAlone, plan.busy) = (true, 2)
        var lives = WorthResult(kind: .still, cell: WorthCell.few[0])
        lives.outcomes = [WorthSamples.outcome(.kit, 100), WorthSamples.outcome(.kit, 300)]
        var dies = lives
        dies.kind = .swing
        dies.outcomes[1] = WorthOutcome(contender: .kit, end: .killed)
        let report = WorthReport(plan: plan, results: [lives, dies])
        #expect(!report.isRight)
        for words in ["survived", "✗ killed", "PressureKit killed in 1 of 2 rounds", "beside 2 busy threads"] {
            #expect(report.text.contains(words), "\(words)\n\(report.text)")
        }
        #expect(!report.text.contains("LRU"))
        #expect(WorthJSON(report).cells.allSatisfy { $0.contenders.map(\.name) == [.kit] })
    }

    @Test func howFarTheSourceIsAndWhereCopiesGoIsSaid() throws {
        var report = WorthSamples.usual
        report.plan.source = WorthSource(loadNanoseconds: 20_000_000, server: "cache.internal:6379")
        let words = "a load waits 20.0 ms for its source, PressureKit has no disk and spills to cache.internal:6379"
        #expect(report.conditions.hasSuffix("; \(words)"), "\(report.conditions)")
        let json = WorthJSON(report)
        #expect(json.loadSeconds == 0.02 && json.server == "cache.internal:6379")
        let usual = WorthJSON(WorthSamples.usual)
        #expect(usual.loadSeconds == nil && usual.server == nil && WorthSource().words == nil)
        var choice = WorthChoice(source: report.plan.source)
        #expect(choice.objection == nil && choice.plan.source == report.plan.source)
        choice.source.loadNanoseconds = 1_000_000_001
        #expect(choice.objection == "--load-time must be between 0 and 1s.")
    }

    #if Redis
    @Test func aProcessWithoutADiskSpillsToTheServer() throws {
        let configuration = WorthSource(server: "cache.internal:7000").configuration
        #expect(configuration.remote?.replacesDisk == true)
        #expect(configuration.remote?.options.server.name == "cache.internal:7000")
        #expect(WorthSource().configuration.remote == nil)
    }
    #endif

    @Test func aKillAWrongValueAndAStandstillAreFailures() throws {
        let report = WorthSamples.bad
        #expect(!report.isRight)
        #expect(report.results.map(\.isRight) == [true, false, false])
        #expect(report.results.map(\.ratio) == [nil, nil, 2])
        for words in [
            "no LRU survives", "LRU killed with 60, 2 % of the limit", "✗ killed",
            "PressureKit killed in 1 of 2 rounds",
            "PressureKit not done in time in 1 round", "PressureKit: 2 wrong, 0 failed: value 7 is another one <b>",
        ] { #expect(report.text.contains(words), "\(words)\n\(report.text)") }
        // That the LRU is killed is found out, and no failure.
        var result = WorthSamples.result(.still, [1], [2])
        result.outcomes[0] = WorthOutcome(contender: .lru, end: .killed)
        #expect(result.isRight)
    }

    @Test(arguments: [true, false]) func thePageIsOneFileAndWellFormed(isUsual: Bool) throws {
        let report = isUsual ? WorthSamples.usual : WorthSamples.bad
        let page = WorthPage(report: report, machine: RunSamples.machine).page.text
        let parsed = try Parsed(page)
        let ids = parsed.all("id")
        #expect(Set(ids).count == ids.count)
        for forbidden in ["http:", "https:", "src="] { #expect(!page.contains(forbidden), "\(forbidden)") }
        #expect(!page.contains("<b>"))
        for contender in WorthContender.allCases { #expect(page.contains("line-\(contender.tone)")) }
        #expect(parsed.text.contains(isUsual ? "As fast as the best LRU in 2 of 3 cells" : "Not all went well"))
    }

    @Test func aPageOfNothingIsWrittenToo() throws {
        let report = WorthReport(plan: WorthPlan(), results: [])
        #expect(throws: Never.self) { try Parsed(WorthPage(report: report).page.text) }
        #expect(throws: Never.self) { try Parsed(WorthPage(report: report).picture.text) }
    }

    @Test func thePictureStandsAloneInLightAndDark() throws {
        let picture = WorthPage(report: WorthSamples.usual).picture.text
        let parsed = try Parsed(picture)
        #expect(parsed.names.first == "svg")
        #expect(parsed.attributes.first?["xmlns"] == "http://www.w3.org/2000/svg")
        #expect(picture.contains("prefers-color-scheme:dark"))
        // Nothing but the name of the format is an address, and nothing runs.
        #expect(picture.components(separatedBy: "http").count == 2)
        for forbidden in ["href", "script", "@import", "url("] { #expect(!picture.contains(forbidden), "\(forbidden)") }
        for name in Set(picture.matches(of: /var\(--([a-z]+)\)/).map(\.output.1)) {
            #expect(picture.contains("--\(name):"), "\(name)")
        }
        #expect(parsed.text.contains("20,500/s"))
        #expect(parsed.text.contains("785/s"))
    }

    /// For the browser's tests, which need files: `PRESSUREKIT_PAGES=DIRECTORY`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] != nil))
    func writesItsPagesForTheBrowser() throws {
        let directory = URL(fileURLWithPath: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] ?? "")
        for (name, report) in [("worth-usual", WorthSamples.usual), ("worth-bad", WorthSamples.bad)] {
            let page = WorthPage(report: report, machine: RunSamples.machine).page
            try Data(page.text.utf8).write(to: directory.appendingPathComponent("\(name).html"))
        }
    }
}

@Suite struct WorthCommandTests {
    @Test func withoutOptionsAFewCellsAreMeasuredThreeTimes() {
        let plan = WorthChoice().plan
        #expect(plan == WorthPlan())
        #expect(plan.rounds == 3)
        #expect(plan.cells(of: .still).count == 5)
        #expect(plan.cells(of: .shared4) == [WorthCell.few[0]])
    }

    @Test func theGridIsTheWholeOneForEveryKind() throws {
        let kinds = try #require(WorthKind.named("all"))
        let plan = WorthChoice(isGrid: true, kinds: kinds).plan
        #expect(plan.kinds == WorthKind.allCases)
        for kind in WorthKind.allCases { #expect(Set(plan.cells(of: kind)).count == 81) }
        #expect(WorthKind.named("shared2") == [.shared2])
        #expect(WorthKind.named("dynamic") == nil)
    }

    @Test func everyCombinationOfWhatIsGivenIsMeasured() {
        let choice = WorthChoice(
            isQuick: true,
            kinds: [.swing],
            limits: [.mebibytes(128), .mebibytes(64)],
            readers: [1, 8],
            seconds: 2.5
        )
        let plan = choice.plan
        #expect(plan.kinds == [.swing])
        #expect(plan.rounds == 1)
        #expect(plan.times.measured == 2.5)
        let cells = plan.cells(of: .swing)
        #expect(cells.map(\.limit) == [128, 128, 64, 64].map { ByteCount.mebibytes($0) })
        #expect(cells.map(\.readers) == [1, 8, 1, 8])
        #expect(cells.allSatisfy { $0.valueSize == .kibibytes(32) && $0.zipf == 0.9 })
        // 1.8 times the limit.
        #expect(cells[0].values == 7372)
        #expect(WorthChoice(values: 100).plan.cells.map(\.values) == [100])
    }

    @Test(arguments: [
        ["--quick", "--grid"], ["--grid", "--zipf", "1"], ["--kind", "dynamic"], ["--limit", "8MiB"],
        ["--limit", "64MiB", "--value-size", "8MiB"], ["--value-size", "512B"], ["--zipf", "0"], ["--readers", "0"],
        ["--readers", "257"], ["--values", "3"], ["--rounds", "0"], ["--busy", "-1"], ["--alone", "--html", "x.html"],
        ["--seconds", "0"], ["--json", "-", "--svg", "-"], ["--alone", "--append", "x.jsonl"], ["--commit", "x"],
    ])
    func wrongInputIsTwo(arguments: [String]) throws {
        #expect(try Tool.run(["worth"] + arguments).status == 2)
    }

    @Test func aChildThatIsStartedByHandIsWrongInput() throws {
        let outcome = try Tool.run(["worth", "--child", "{}"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("without --child"))
    }
}
