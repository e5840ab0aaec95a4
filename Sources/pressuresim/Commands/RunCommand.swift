import ArgumentParser
import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// `pressuresim run FILE…`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Play a scenario against the real library, on this machine's real memory.",
        discussion: Prose.flowing(
            """
            A scenario is a YAML file: controllers with their caches, a timeline of accesses and warnings, and what is
            expected of every figure. Scenarios/README.md documents the language; Scenarios/ has examples.

              pressuresim run Scenarios/gallery.yaml
              pressuresim run Scenarios/flood.yaml --json flood.json
              pressuresim run Scenarios/gallery.yaml --html gallery.html
              pressuresim run Scenarios/gallery.yaml --virtual --log -
              pressuresim run Scenarios/*.yaml --virtual --junit results.xml
              pressuresim run shop.yaml --policy lru --set seed=7

            With processes: 3 in the scenario three processes play it in one cgroup, and what each held is told. That takes
            root and real time.

            Every access verifies the bytes it gets, and at the end every value is compared with its source.

            With --virtual, time is a clock that moves when something is done: hours take seconds, and the same seed gives
            the same log, byte for byte. Durations are those of a cost model then; what only a real process can tell is
            not measured, and expectations of it are neither held nor failed.

            The first ^C ends the run soon, leaves nothing behind and prints the account so far; a second one ends it at
            once.

            Exit status: 0 all expectations hold; 1 one failed or a value was lost; 2 the input is wrong; 3 the
            environment refused (the message says what to do); 130 interrupted.
            """
        )
    )

    @Argument(
        help: "The scenarios, YAML files, each played by itself; - is standard input.",
        completion: .file(extensions: ["yaml", "yml"])
    )
    var files: [String]

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "A value in place of the scenario's, such as memory.cgroup_limit=64MiB; elements of lists by name or number.",
            valueName: "key=value"
        )
    )
    var settings: [String] = []

    @Option(help: ArgumentHelp("Evict in this order instead of the scenario's: cost, lru, sieve, …", valueName: "name"))
    var policy: String?

    @Option(
        help: ArgumentHelp("Write what was expected as JUnit's XML to this file.", valueName: "path"),
        completion: .file(extensions: ["xml"])
    )
    var junit: String?

    @Option(help: .json)
    var json: String?

    @Option(help: ArgumentHelp("Write a page with charts to this file; - is standard output.", valueName: "path"))
    var html: String?

    @Option(help: "Use this seed instead of the scenario's.")
    var seed: UInt64?

    @Option(help: ArgumentHelp("Spill to this directory instead of the scenario's.", valueName: "directory"))
    var spillDirectory: String?

    @Flag(name: .customLong("virtual"), help: "Play in virtual time: hours in seconds, and every time the same.")
    var isVirtual = false

    @Option(help: ArgumentHelp("Write a line for each event to this file; - is standard output.", valueName: "path"))
    var log: String?

    @Option(
        help: ArgumentHelp("Write memory over time as comma-separated values; - is standard output.", valueName: "path")
    )
    var csv: String?

    /// The life to play of a scenario with `relaunch` steps, and where: how this tool starts itself.
    @Option(help: .hidden) var life: Int?
    @Option(help: .hidden) var state: String?
    @Flag(help: .hidden) var lifeEvents = false
    /// Which of several processes this is, counted from 1; the first starts the others.
    @Option(help: .hidden) var neighbour: Int?

    func validate() throws {
        let outputs = [json, log, csv, html].compactMap(\.self)
        guard (outputs + [junit].compactMap(\.self)).count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Only one of --json, --log, --csv, --html and --junit can be standard output.")
        }
        guard files.count == 1 || outputs.isEmpty else {
            throw ValidationError("--json, --log, --csv and --html are for one scenario; --junit is for several too.")
        }
        guard files.count == 1 || !files.contains("-") else {
            throw ValidationError("Standard input is one scenario: play it by itself.")
        }
        for text in settings where ScenarioOverride(text) == nil {
            throw ValidationError("--set \(text) must be key=value, such as memory.cgroup_limit=64MiB.")
        }
    }

    func run() async throws {
        guard files.count == 1 else { return try await several.play() }
        let scenario = try ScenarioInput.read(
            file,
            seed: seed,
            spillDirectory: spillDirectory,
            setting: settings + [policy.map { "policy=\($0)" }].compactMap(\.self)
        )
        if let life, let state { return try await play(scenario, life, state) }
        if neighbour != nil { return try await NeighbourMember.play(scenario, file: file) }
        try CommandOutput.check(
            json,
            html,
            log,
            csv,
            junit,
            reading: [file] + TraceKeys.paths(of: scenario, file: file)
        )
        TemporaryDirectory.sweep(scenario.spill.directory ?? TemporaryDirectory.usualPlace)
        LimitedGroup.sweep()
        if !isVirtual, CgroupRun.isNeeded(for: scenario) { return try await CgroupRun.relay(scenario) }
        let stop = StopSignal()
        stop.takeOverSignals()
        if isVirtual { try DeterministicHashing.ensure() }
        ControlHint.tell(isVirtual: isVirtual)
        let events = try log.map { path throws(EnvironmentRefusal) in try EventLog.open(path) } ?? EventLog()
        let stage =
            isVirtual
            ? Stage.virtual(seed: scenario.seed, stop: stop, events: events)
            : Stage.real(seed: scenario.seed, stop: stop, events: events)
        let progress = Progress.onTerminal()
        let record = try await Simulation(scenario, file: file, progress: progress, stage: stage).run()
        guard !events.isBroken else {
            throw EnvironmentRefusal(message: "Not all of the log could be written. Name another file.")
        }
        let figures = Figures(record)
        let outcomes = record.outcomes(figures)
        try report(record, figures, outcomes)
        if record.isInterrupted { throw ExitStatus.interrupted.exitCode }
        let isRight = !outcomes.contains(where: \.isBroken) && record.tally.losses.isEmpty && record.allFinished
        if !isRight { throw ExitStatus.expectationFailed.exitCode }
    }

    /// The only one.
    private var file: String { files[0] }

    private var several: SeveralRuns {
        var options = settings.flatMap { ["--set", $0] }
        if let policy { options += ["--policy", policy] }
        if let seed { options += ["--seed", "\(seed)"] }
        if let spillDirectory { options += ["--spill-directory", spillDirectory] }
        if isVirtual { options.append("--virtual") }
        return SeveralRuns(files: files, options: options, junit: junit)
    }

    /// Plays a life that ends with the process.
    private func play(_ scenario: Scenario, _ number: Int, _ directory: String) async throws {
        let before = try Life.records(before: number, in: directory)
        let life = Life(number: number, isLast: false, directory: directory, before: before)
        let stage = Stage.real(seed: scenario.seed, events: EventLog(keeps: lifeEvents))
        try await Simulation(scenario, file: file, stage: stage).runAndDie(life)
    }

    private func report(_ record: RunRecord, _ figures: Figures, _ outcomes: [Expectation.Outcome]) throws {
        if ![json, log, csv, html, junit].contains("-") {
            let account = Account(record: record, figures: figures, outcomes: outcomes, style: .output)
            try CommandOutput.print(account.text)
        }
        if let csv { try CommandOutput.write(Data(TimelineCSV.text(record.timeline).utf8), to: csv) }
        if let json { try CommandOutput.write(JSONReport(record, figures, outcomes).data(), to: json) }
        if let junit {
            let facts = try RunFacts(JSONReport(record, figures, outcomes).data(), file: record.file)
            try CommandOutput.write(Data(JUnitReport(suites: [.played(facts)]).text.utf8), to: junit)
        }
        guard let html else { return }
        let machine = PageMachine.current(spillDirectory: record.scenario.spill.directory)
        let page = HtmlReport(record: record, figures: figures, outcomes: outcomes, machine: machine).page
        try CommandOutput.write(Data(page.text.utf8), to: html)
    }
}
