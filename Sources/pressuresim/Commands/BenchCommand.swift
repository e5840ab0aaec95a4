import ArgumentParser
import Foundation
import PressureKit
import ReportPages
import SampleContent

/// `pressuresim bench`.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the library against the limits of this machine, in the same run on the same bytes.",
        discussion: Prose.flowing(
            """
            Each metric is printed with its limit (what the machine does without the library), their ratio, the goal and
            whether it is reached. A second table shows what an entry costs by how many there are.

              make bench
              pressuresim bench --corpus ~/Pictures --json bench.json
              pressuresim bench --append history.jsonl --html bench.html
              pressuresim bench --append history.jsonl --commit $(git describe)

            Use a release build on an idle machine; the load before the start is in the report. A full run takes some
            minutes and 2 GiB of memory, and writes up to 5 GB below the spill directory, gone when it ends.

            Exit status: 0 measured, whether goals are reached or missed: this is a measurement, not a test; 2 the input
            is wrong; 3 the environment refused (the message says what to do). After ^C what was measured by then is printed.
            """
        )
    )

    @Flag(help: "Less data and fewer repetitions: under a minute.")
    var quick = false

    @Flag(help: "Only how soon pressure is answered, in real cgroups; needs root.")
    var signals = false

    @Option(
        help: ArgumentHelp(
            "Measure with the files of this directory instead of the toolchain's; an index.json as the peers' corpus "
                + "has is followed.",
            valueName: "directory"
        ),
        completion: .directory
    )
    var corpus: String?

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write a page with charts, in one file; with --append, of all runs in that file.",
            valueName: "path"
        ),
        completion: .file(extensions: ["html"])
    )
    var html: String?

    @OptionGroup var history: HistoryOption

    @Option(help: ArgumentHelp("Spill to this directory.", valueName: "directory"), completion: .directory)
    var spillDirectory = "/var/tmp"

    @OptionGroup var progress: ProgressOption

    /// So little that the figures mean nothing, for tests of the tool itself.
    @Flag(help: .private)
    var tiny = false

    func validate() throws {
        if json == "-", html == "-" {
            throw ValidationError("Only one of --json and --html can be standard output.")
        }
        if signals, html != nil || history.append != nil {
            throw ValidationError("--html and --append keep runs of the whole bench: leave out --signals.")
        }
        if let objection = history.objection(html: html) { throw ValidationError(objection) }
    }

    func run() async throws {
        // Before minutes of measuring, not after them.
        try CommandOutput.check(json, html, history.append)
        let runs = try history.kept()
        try TemporaryDirectory(in: spillDirectory, option: "--spill-directory").remove()
        if signals {
            return try await SignalsBenchRun.run(quick: quick, directory: spillDirectory, json: json, progress.progress)
        }
        let progress = self.progress.progress
        let plan: BenchPlan = tiny ? .tiny : quick ? .quick : .full
        let bench = Bench(plan: plan, corpus: corpus, directory: spillDirectory, progress: progress)
        CutShort.reporting {
            progress.stop()
            guard let record = bench.board.soFar else { return }
            if ![json, html].contains("-") { try? CommandOutput.print(BenchText(record: record, style: .output).text) }
            if let json { try? CommandOutput.write(BenchJSON(record).data(), to: json) }
            if let html { try? CommandOutput.write(page(record, runs), to: html) }
        }
        progress.start { nil }
        let record: BenchRecord
        do {
            defer { progress.stop() }
            // The bench blocks; the cooperative threads must not.
            record = try await Blocking.run("bench") { try bench.run() }
        } catch let error as ContentError {
            throw CommandOutput.fail("\(error)", .wrongInput)
        }
        if ![json, html].contains("-") { try CommandOutput.print(BenchText(record: record, style: .output).text) }
        try write(record, runs)
    }

    private func write(_ record: BenchRecord, _ runs: [BenchRun]) throws {
        if let json { try CommandOutput.write(BenchJSON(record).data(), to: json) }
        try history.keep(run(record))
        if let html { try CommandOutput.write(page(record, runs), to: html) }
    }

    /// All runs of the bench so far, with this one.
    private func page(_ record: BenchRecord, _ runs: [BenchRun]) -> Data {
        let runs = runs.filter { !$0.isOfWorth } + [run(record)]
        var page = BenchPage(runs: runs, scale: record.scale, corpus: record.machine.corpus)
        page.isComplete = record.isComplete
        return Data(page.page.text.utf8)
    }

    private func run(_ record: BenchRecord) -> BenchRun {
        BenchRun(record, plan: tiny ? "tiny" : quick ? "quick" : "full", commit: history.commit)
    }
}
