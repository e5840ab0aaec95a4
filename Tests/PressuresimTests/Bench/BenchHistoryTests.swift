import Foundation
import Testing

@testable import ReportPages
@testable import SampleContent
@testable import pressuresim

@Suite struct BenchHistoryTests {
    @Test func whatWasAddedIsRead() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("history.jsonl").path
            #expect(try BenchHistory.read(path).isEmpty)
            let runs = BenchSamples.history(count: 5)
            for run in runs { try BenchHistory.append(run, to: path) }
            #expect(try BenchHistory.read(path) == runs)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.split(separator: "\n").count == runs.count)
            #expect(text.hasSuffix("\n"))
        }
    }

    @Test func aLastLineWithoutAnEndIsNotDamaged() async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("history.jsonl")
            let runs = BenchSamples.history(count: 2)
            try (try BenchHistory.line(runs[0])).dropLast().write(to: url)
            try BenchHistory.append(runs[1], to: url.path)
            #expect(try BenchHistory.read(url.path) == runs)
        }
    }

    @Test(arguments: ["{}", "[1]", "garbage", "{\"format_version\": 2}", "\u{FFFD}"])
    func whatIsNoRunIsNamedWithItsLine(line: String) async throws {
        try await withTemporaryDirectory { directory in
            let url = directory.appendingPathComponent("history.jsonl")
            let good = try BenchHistory.line(BenchSamples.history(count: 1)[0])
            try (good + Data("\n\(line)\n".utf8)).write(to: url)
            let error = #expect(throws: BenchHistory.Unreadable.self) { try BenchHistory.read(url.path) }
            #expect(error?.description.hasPrefix("\(url.path):3: ") == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [1e15, -1e300, 1e7, -1, .greatestFiniteMagnitude])
    func aNumberThatNobodyMeasuresIsRefused(number: Double) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("history.jsonl").path
            var run = BenchSamples.history(count: 1)[0]
            run.metrics[0].value = number
            try BenchHistory.append(run, to: path)
            #expect(throws: BenchHistory.Unreadable.self) { try BenchHistory.read(path) }
        }
    }

    /// Files of today are read by the tool of tomorrow: a change of this list is a change of the format.
    @Test func theKeysOfALineAreStable() throws {
        let line = try BenchHistory.line(BenchSamples.history(count: 1)[0])
        let json = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        #expect(
            json.keys.sorted() == ["commit", "date", "format_version", "load_before", "machine", "metrics", "plan"]
        )
        #expect(
            (json["machine"] as? [String: Any])?.keys.sorted()
                == ["cores", "kernel", "memory_bytes", "optimized", "processor", "zlib"]
        )
        let metrics = try #require(json["metrics"] as? [[String: Any]])
        #expect(metrics.count == BenchMetric.allCases.count)
        #expect(metrics[0].keys.sorted() == ["goal", "holds", "limit", "name", "ratio", "unit", "value"])
    }

    @Test func onlyTheSameMachineBuildAndPlanAreCompared() {
        let run = BenchSamples.history(count: 1)[0]
        var changes: [BenchRun] = [run, run, run, run]
        changes[0].machine.cores += 1
        changes[1].machine.processor = "another"
        changes[2].machine.optimized.toggle()
        changes[3].plan = "quick"
        #expect(run.isComparable(with: run))
        for other in changes { #expect(!run.isComparable(with: other)) }
    }
}

@Suite struct BenchPageTests {
    @Test(.timeLimit(.minutes(5))) func theCommandKeepsRunsAndDrawsThem() async throws {
        try await withTemporaryDirectory { directory in
            let text = TextContent(seed: 3)
            try Data(bytes(100_000) { text.fill(&$0, index: 0) }).write(to: directory.appendingPathComponent("a.txt"))
            let history = directory.appendingPathComponent("history.jsonl")
            try BenchHistory.append(BenchSamples.history(count: 1)[0], to: history.path)
            // Of another command: kept, and not drawn.
            let machine = BenchMachine(spillDirectory: "", corpus: "", loadBefore: 0)
            try BenchHistory.append(
                WorthHistory(report: WorthSamples.usual).run(machine, commit: nil),
                to: history.path
            )
            let outcome = try Tool.run([
                "bench", "--tiny", "--corpus", directory.path, "--append", history.path, "--commit", "<b>", "--html",
                "-",
            ])
            #expect(outcome.status == 0)
            let runs = try BenchHistory.read(history.path)
            #expect(runs.map(\.commit).last == "<b>")
            #expect(runs.map(\.plan) == ["full", "worth 5.00 s after at most 30.0 s", "tiny"])
            #expect(try Parsed(outcome.output).text.contains("2\u{A0}runs are kept"))
        }
    }

    /// Minutes of measuring must not end with a complaint about a file that was there all the time.
    @Test(arguments: ["bench", "worth"])
    func aHistoryThatIsNoneIsRefusedBeforeAnythingIsMeasured(command: String) async throws {
        try await withTemporaryDirectory { directory in
            let history = directory.appendingPathComponent("history.jsonl")
            try Data("{}\n".utf8).write(to: history)
            let outcome = try Tool.run([command, "--append", history.path])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("\(history.path):1: "))
            #expect(try Tool.run([command, "--commit", "x"]).status == 2)
        }
    }

    @Test func signalsHaveNoPage() throws {
        #expect(try Tool.run(["bench", "--signals", "--html", "x"]).status == 2)
    }

    @Test func everyMetricThatWasMeasuredHasAChartWithItsGoal() throws {
        let page = try Parsed(BenchPage(runs: BenchSamples.history(count: 12)).page.text)
        // And one of all of them.
        #expect(page.names.count { $0 == "figure" } == BenchMetric.allCases.count)
        for metric in BenchMetric.allCases { #expect(page.text.contains(metric.rawValue)) }
        #expect(page.attributes.count { $0["class"] == "reference" } == BenchMetric.allCases.count - 1)
        #expect(page.text.contains("no\u{A0}value"))
        #expect(page.text.contains("≤\u{A0}1.5"))
    }

    /// A history of one run is no history: it is one chart, each value against its goal.
    @Test func oneRunIsOneBulletChart() throws {
        let run = BenchSamples.history(count: 1)[0]
        let page = try Parsed(BenchPage(runs: [run]).page.text)
        #expect(page.names.count { $0 == "figure" } == 1)
        #expect(page.attributes.count { $0["class"] == "goal" } == BenchMetric.allCases.count - 1)
        let bullets = page.attributes.count { $0["class"]?.hasPrefix("bullet ") ?? false }
        #expect(bullets == BenchMetric.allCases.count - 1)
        let missed = run.metrics.compactMap(\.holds).count { !$0 }
        #expect(page.attributes.count { $0["class"] == "bullet fill-red" } == missed)
        #expect(page.text.contains("hot_read: "))
        for metric in BenchMetric.allCases { #expect(page.text.contains(metric.rawValue)) }
        #expect(!page.text.contains("From run to run"))
    }

    /// 1 is the goal, on either side of it; beyond a goal of nothing, anything is too much.
    @Test(
        arguments: [(3, 1.5, 2), (0, 1.5, 0), (40, 80, 0.5), (0, 0, 0), (1, 0, .infinity)] as [(Double, Double, Double)]
    )
    func theShareIsTheValueOverItsGoal(number: Double, bound: Double, share: Double) {
        #expect(BenchBullets.share(number, of: bound) == share)
    }

    @Test func theVerdictCountsGoals() throws {
        let run = BenchSamples.history(count: 1)[0]
        let held = run.metrics.compactMap(\.holds)
        let text = BenchPage(runs: [run]).page.text
        #expect(text.contains("\(held.count(where: \.self)) of \(held.count) goals reached"))
        #expect(text.contains("1 metric could not be measured here"))
    }

    @Test func aDebugBuildAndABusyMachineAreSaid() {
        var run = BenchSamples.history(count: 1)[0]
        #expect(!BenchPage(runs: [run]).page.text.contains("class=\"bad\">This"))
        run.machine.optimized = false
        run.loadBefore = 3
        let text = BenchPage(runs: [run]).page.text
        #expect(text.contains("This is a debug build"))
        #expect(text.contains("The load average was 3.0 before the start"))
    }

    @Test func nothingFromAHistoryBecomesMarkup() throws {
        let usual = try Parsed(BenchPage(runs: BenchSamples.history(count: 14)).page.text)
        let hostile = try Parsed(BenchPage(runs: BenchSamples.hostile).page.text)
        #expect(Set(hostile.names).isSubset(of: usual.names))
        #expect(hostile.names.count { $0 == "script" } == 1)
    }

    /// For the browser's tests, which need files: `PRESSUREKIT_PAGES=DIRECTORY`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] != nil))
    func writesItsPagesForTheBrowser() throws {
        let directory = URL(fileURLWithPath: ProcessInfo.processInfo.environment["PRESSUREKIT_PAGES"] ?? "")
        let scale = [1000, 10_000, 100_000].map { entries in
            ScaleRow(entries: entries, register: 4e-7, hit: 3e-8, plan: 9e-8, evict: 2e-6, restore: 4e-6)
        }
        for (name, runs) in [
            ("bench-first", BenchSamples.history(count: 1)), ("bench-history", BenchSamples.history(count: 24)),
            ("bench-hostile", BenchSamples.hostile),
        ] {
            let page = BenchPage(runs: runs, scale: scale, corpus: "files of a toolchain; 2 values of 7 are noise").page
            try Data(page.text.utf8).write(to: directory.appendingPathComponent("\(name).html"))
        }
    }
}

/// Runs of the bench that never took place.
enum BenchSamples {
    /// Runs a day apart that get better and worse; one metric is never measured, and some runs are from elsewhere.
    static func history(count: Int) -> [BenchRun] {
        var random = SplitMix64(seed: 11)
        return (0..<count).map { day in
            let results = BenchMetric.allCases.map { metric -> BenchResult in
                if metric == .hotReadAgainstNSCache { return BenchResult(metric, value: nil) }
                let bound = metric.goal.bound
                let scale = metric.unit == .seconds ? 1e-6 : 2e8
                let drift = 1.08 + Double.random(in: -0.12...0.12, using: &random) - 0.012 * Double(day)
                let number = metric.goal.side == .atMost ? bound * drift : bound / drift
                switch metric.goal.ratio {
                case .none: return BenchResult(metric, value: metric == .reclaimAllocations ? 0 : number)
                case .valueOverLimit: return BenchResult(metric, value: number * scale, limit: scale)
                case .limitOverValue: return BenchResult(metric, value: scale, limit: number * scale)
                }
            }
            var machine = BenchMachine(spillDirectory: "/var/tmp", corpus: "", loadBefore: 0.1)
            machine.processor = "A processor"
            machine.cores = day % 7 == 3 ? 8 : 2
            machine.memoryBytes = 8 << 30
            machine.kernel = "A system"
            machine.optimized = true
            let date = Date(timeIntervalSince1970: 1_770_000_000 + 86_400 * Double(day))
            let record = BenchRecord(machine: machine, results: results, scale: [], isComplete: true)
            return BenchRun(record, plan: "full", commit: String(0xABC_0000 + day * 7919, radix: 16), date: date)
        }
    }

    /// The same from a file in which somebody wrote what they liked.
    static var hostile: [BenchRun] {
        var runs = history(count: HtmlTests.hostile.count)
        for (index, name) in HtmlTests.hostile.enumerated() {
            runs[index].commit = name
            runs[index].date = name
            runs[index].plan = name + String(repeating: "one-word-without-a-blank", count: 6)
            runs[index].machine.processor = name + String(repeating: "one-word-without-a-blank", count: 6)
            runs[index].machine.zlib = name
            runs[index].metrics[0].name = name
            runs[index].metrics[1].value = 9e5
            runs[index].metrics[2].ratio = 1e14
            runs[index].metrics[3].ratio = 0
        }
        return runs
    }
}
