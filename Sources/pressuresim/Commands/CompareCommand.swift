import ArgumentParser
import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// `pressuresim compare FILE`.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Play a scenario under PressureKit's order of eviction and under others, side by side.",
        discussion: Prose.flowing(
            """
            Ours, purging everything as image caches on iOS do, the order of NSCache on Linux, LRU (spilled or dropped by
            cost, all dropped, all spilled), SIEVE, and the largest first: same seed, same reads, same bytes to free. A line for each figure: how long readers waited for restores
            and for loaders, how many reads found their value in memory, how long reads took, what was written. Where
            PressureKit is not the best, it says so.

              pressuresim compare Scenarios/gallery.yaml
              pressuresim compare shop.yaml --real --runs 5 --html shop.html

            In virtual time, unless you say --real: the library does all it does, with a clock that moves by what things
            cost in a model, so that the figures are the same on every machine and each time.

            A warning that states no bytes asks all of them for what PressureKit frees there. A value without a loader is
            never dropped, whoever plays; how many a real competitor would have lost is told below the table.

            Exit status: 0 compared, whoever is best; 1 the library lost a value; 2 the input is wrong; 3 the environment
            refused (the message says what to do). After ^C the contenders that have played are compared.
            """
        )
    )

    @Argument(help: "The scenario, a YAML file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Flag(name: .customLong("real"), help: "Play in real time, on this machine's memory and disk.")
    var isReal = false

    @Option(help: "With --real: play each contender so often, and take the medians.")
    var runs = 1

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    @Option(
        help: ArgumentHelp("Write the comparison as a page with charts, in one file.", valueName: "path"),
        completion: .file(extensions: ["html"])
    )
    var html: String?

    @Option(help: "Use this seed instead of the scenario's.")
    var seed: UInt64?

    @Option(
        help: ArgumentHelp("Spill to this directory instead of the scenario's.", valueName: "directory"),
        completion: .directory
    )
    var spillDirectory: String?

    @OptionGroup var progress: ProgressOption

    func validate() throws {
        guard 1...1000 ~= runs else { throw ValidationError("--runs must be between 1 and 1000.") }
        guard isReal || runs == 1 else {
            throw ValidationError("--runs is for --real: in virtual time all runs are the same.")
        }
    }

    func run() async throws {
        let scenario = try ScenarioInput.read(file, seed: seed, spillDirectory: spillDirectory)
        try CommandOutput.check(json, html, reading: [file] + TraceKeys.paths(of: scenario, file: file))
        var comparison = Comparison(scenario: scenario, file: file, isReal: isReal, runs: runs)
        comparison.progress = progress.progress
        comparison.stop.takeOverSignals()
        let report: ComparisonReport?
        do {
            if !isReal { try DeterministicHashing.ensure() }
            comparison.progress.start { nil }
            defer { comparison.progress.stop() }
            report = try await comparison.run()
        }
        if let report { try tell(report) }
        guard let report, report.isComplete else { throw ExitStatus.interrupted.exitCode }
        if report.hasFailed { throw ExitStatus.expectationFailed.exitCode }
    }

    private func tell(_ report: ComparisonReport) throws {
        if json != "-" { try CommandOutput.print(ComparisonText(report: report, style: .output).text) }
        if let json { try CommandOutput.write(CommandJSON.encode(ComparisonJSON(report)), to: json) }
        guard let html else { return }
        let machine = report.isReal ? PageMachine.current(spillDirectory: report.scenario.spill.directory) : nil
        try CommandOutput.write(Data(ComparisonPage(report: report, machine: machine).page.text.utf8), to: html)
    }
}
