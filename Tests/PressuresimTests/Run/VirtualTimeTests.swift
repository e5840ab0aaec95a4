import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// Scenarios in virtual time, played by the tool as users play it: another process each time, so that nothing that a
/// process draws anew, addresses and hash seeds, can hide. One scenario at a time: each is three processes with all its
/// values.
@Suite(.serialized, .timeLimit(.minutes(15))) struct VirtualTimeTests {
    /// All scenarios that come with the package.
    static let scenarios: [String] = {
        let directory = packageDirectory.appendingPathComponent("Scenarios").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    /// Whether the thread sanitizer's runtime is in this process: hashing hundreds of MiB takes too long there.
    private static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil

    /// A run whose log is its output.
    private struct Run: Sendable {
        var status: Int32
        var log: String

        /// The log without what names the seed.
        var events: [Substring] { log.split(separator: "\n").filter { !$0.contains(" start ") } }
    }

    /// Plays a scenario several times, side by side, so that each run is disturbed by the others. On a thread of its own:
    /// other tests want theirs.
    private func play(_ file: String, seeds: [Int?]) async throws -> [Run] {
        try await Blocking.run("plays") {
            let runs = try seeds.map { seed in
                try Tool.start(
                    ["run", file, "--virtual", "--log", "-"] + (seed.map { ["--seed", "\($0)"] } ?? [])
                )
            }
            return try runs.map { run in
                let text = try run.output.fileHandleForReading.readToEnd() ?? Data()
                run.process.waitUntilExit()
                return Run(status: run.process.terminationStatus, log: String(decoding: text, as: UTF8.self))
            }
        }
    }

    @Test(.enabled(if: !isSanitized), arguments: scenarios)
    func oneSeedIsOneLogByteForByteAndAnotherIsAnother(name: String) async throws {
        let file = packageDirectory.appendingPathComponent("Scenarios/\(name)").path
        let runs = try await play(file, seeds: [nil, nil, 4_711])
        #expect(runs[0].status == 0, "expectations in virtual time")
        if runs[0].log != runs[1].log {
            let difference = zip(runs[0].events, runs[1].events).first { $0 != $1 }
            Issue.record("the logs of one seed differ: \(difference.map { "\($0.0)\n\($0.1)" } ?? "in length")")
        }
        #expect(runs[0].log.contains(" end lost=0 "))
        #expect(runs[2].events != runs[0].events, "another seed")
    }

    @Test func hoursTakeSeconds() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "  - warning: critical",
            with: (0..<20).map { _ in "  - warning: critical\n  - wait: 10min\n  - access: {of: shelf/*}" }
                .joined(separator: "\n")
        )
        let record = try await Simulation(try scenario(text), file: "test.yaml", stage: .virtual()).run()
        #expect(record.duration > .seconds(12_000) && record.duration < .seconds(12_010))
        let figures = Figures(record)
        #expect(figures[.lost] == 0)
        #expect(figures[.verified] == 4)
    }

    /// What a model makes up proves nothing about the library: such an expectation neither holds nor fails, and is told.
    @Test func whatIsNotMeasuredIsNeitherHeldNorBroken() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "lost: == 0",
            with: "lost: == 0\n  returned_over_claimed: '>= 90%'\n  rss_peak: < 1B"
        )
        let scenario = try scenario(text)
        let record = try await Simulation(scenario, file: "test.yaml", stage: .virtual()).run()
        let figures = Figures(record)
        for figure in Figure.ofTheProcess { #expect(figures[figure] == nil, "\(figure)") }
        let outcomes = scenario.expectations.map { $0.evaluate(figures.values, unmeasured: figures.unmeasured) }
        #expect(outcomes.map(\.holds) == [true, false, false])
        #expect(outcomes.map(\.isBroken) == [false, false, false])
        let account = Account(record: record, figures: figures, outcomes: outcomes, style: .plain).text
        #expect(account.contains("– rss_peak < 1B"))
        #expect(account.components(separatedBy: "  not measured in virtual time").count == 3)
        #expect(account.contains("The expectation holds. 2 more cannot be told in virtual time."))
        let json = try JSONSerialization.jsonObject(with: JSONReport(record, figures, outcomes).data())
        let report = try #require(json as? [String: Any])
        #expect(report["clock"] as? String == "virtual")
        #expect(report["passed"] as? Bool == true)
        let told = try #require(report["expectations"] as? [[String: Any]])
        #expect(told[1]["not_measured"] as? String == "not measured in virtual time")
    }

    /// An expectation that the run does measure fails as it does in real time.
    @Test func whatIsMeasuredCanStillFail() async throws {
        let text = smallScenario.replacingOccurrences(of: "lost: == 0", with: "restores: '> 1000'")
        let outcome = try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("test.yaml")
            try Data(text.utf8).write(to: file)
            return try await Blocking.run("plays") { try Tool.run(["run", file.path, "--virtual"]) }
        }
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("✗ restores > 1000"))
    }

    /// Times are the cost model's, to the nanosecond: 4 values that are in memory, and one that takes its loader 1 ms.
    @Test func timesAreTheModels() async throws {
        let record = try await Simulation(try scenario(smallScenario), file: "test.yaml", stage: .virtual()).run()
        let access = CostModel().access
        #expect(record.steps[0].duration == access * 4 + .milliseconds(1))
        #expect(record.tally.latencies[.load]?.total == (access + .milliseconds(1)).nanoseconds)
    }

    /// A calm minute: what was written in haste is compressed, in virtual time and in real time, where nobody waits for it.
    @Test(arguments: [true, false]) func whatWasWrittenInHasteIsCompressedInCalm(isVirtual: Bool) async throws {
        let text = """
            name: Calm
            controllers:
              - name: shelf
                caches:
                  - {name: texts, count: 8, size: 256KiB, content: text, loader: none}
                  - {name: pictures, count: 8, size: 256KiB, content: {synthetic: {entropy: 7.9}}, loader: none}
            timeline:
              - warning: critical
              - calm: 1min
              - access: {of: shelf/*}
            expect: {lost: == 0}
            """
        let stage: Stage = isVirtual ? .virtual() : .real()
        let record = try await Simulation(try scenario(text), file: "test.yaml", stage: stage).run()
        let outcome = record.steps[1].outcome
        // How many it writes in haste is the disk's speed over the processor's, which it finds out meanwhile. In the
        // model compressing is the faster way.
        let texts = try #require(record.reclaims[0].evicted.first { $0.path == "shelf/texts-*" })
        let isHasty = texts.storedBytes > texts.bytes / 2
        let rewritten = record.rewritten.first { $0.path == "shelf/texts-*" }
        if isVirtual { #expect(!isHasty && rewritten == nil) }
        if isHasty { #expect(rewritten != nil) }
        #expect(outcome.contains("copies compressed, ") == !record.rewritten.isEmpty, "\(outcome)")
        if let rewritten { #expect(rewritten.from >= 256 << 10 && rewritten.to < rewritten.from / 2, "\(rewritten)") }
        #expect(isVirtual ? record.steps[1].duration == .seconds(60) : record.steps[1].duration < .seconds(30))
        #expect(Figures(record)[.lost] == 0)
    }

    /// Where the scenario says that nobody needs the machine, others who use it are no obstacle; unless signals are real.
    @Test(arguments: ["simulated", "real"]) func calmIsWhatTheScenarioSays(memory: String) throws {
        let text = smallScenario.replacing("timeline:", with: "memory: \(memory)\ntimeline:\n  - calm: 1min")
        let spec = try scenario(text)
        let simulation = Simulation(spec, file: "test.yaml", stage: .real())
        let configuration = simulation.configuration(RunLog(scenario: spec, file: "test.yaml"))
        #expect((configuration.busyReading != nil) == (memory == "simulated"))
        let plain = try scenario(smallScenario)
        let usual = Simulation(plain, file: "test.yaml", stage: .real())
        #expect(usual.configuration(RunLog(scenario: plain, file: "test.yaml")).busyReading == nil)
    }

    @Test func aFillCrossesTheThresholdsOfAMachineThatIsImagined() async throws {
        let text = """
            name: Filled
            memory: real
            controllers:
              - name: shelf
                caches:
                  - {name: made, count: 8, size: 1MiB, content: text, loader: {cost: 1ms}}
            timeline:
              - access: {of: shelf/*}
              - fill: {until: warning, at_most: 7GiB, rate: 2GB/s}
              - wait: 1min
              - fill: {until: critical, at_most: 7GiB, rate: 2GB/s}
              - release
              - await: {level: normal, within: 10min}
            expect: {lost: == 0}
            """
        let events = EventLog(keeps: true)
        let stage = Stage.virtual(events: events)
        let record = try await Simulation(try scenario(text), file: "test.yaml", stage: stage).run()
        #expect(record.steps.compactMap { $0.number == nil ? nil : $0.outcome }.last == "normal")
        let levels = events.events.filter { $0.kind == "level" }.map { $0.words[1].value }
        #expect(levels == ["warning", "critical", "warning", "normal"])
        // 4 GiB are free at the start, and warning begins at a fifth of 8.
        #expect(record.filled > .mebibytes(3 << 10) && record.filled < .mebibytes(4 << 10))
        #expect((Figures(record)[.realReclaims] ?? 0) >= 1)
        #expect(Figures(record)[.lost] == 0)
    }
}
