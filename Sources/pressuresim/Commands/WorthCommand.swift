import ArgumentParser
import Foundation
import PressureKit
import ReportPages

/// `pressuresim worth`.
struct WorthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worth",
        abstract: "Measure what PressureKit gains over the best bounded LRU below a memory limit.",
        discussion: Prose.flowing(
            """
            Reads from one cache in a cgroup of its own, without swap: once a dictionary with a bound in bytes, the least
            recently used first to go, and once PressureKit with nothing set. Same keys, same bytes, same loader (read from
            a file and inflate). The bound of the LRU is looked for first: the fastest with which the kernel does not kill
            the process. Both are measured in turns, in the steady state: after every value was read
            once, and then for twice as long as that took.

              sudo pressuresim worth --quick
              sudo pressuresim worth --kind all --html worth.html
              sudo pressuresim worth --limit 256MiB --value-size 32KiB --zipf 0.9
              sudo pressuresim worth --append history.jsonl --html worth.html

            Options that say what is measured can be given more than once: every combination is measured. Without any, a few
            that differ much. It takes root and a cgroup memory controller that may be written to, and as much room below
            the directory as the limit. Cgroups and files are gone afterwards. Use a release build on an idle machine.

            Exit status: 0 measured, whoever is faster; 1 PressureKit was killed or not done in time, or a value was wrong; 2
            the input is wrong; 3 the environment refused (the message says what to do). After ^C what was measured by then
            is printed.
            """
        )
    )

    @Flag(help: "Two cells, one round each: under a minute for one kind.")
    var quick = false

    @Flag(help: "81 cells, from 4 KiB to 1 MiB and from 128 to 512 MiB: some hours.")
    var grid = false

    @Option(
        help: ArgumentHelp(
            "What happens meanwhile: static, swing (other memory of the process goes up and down), shared2, shared4 (so "
                + "many processes below one limit), busy4, dear4 (four that differ), or all. (default: static)",
            valueName: "kind"
        ),
        transform: Self.kinds
    )
    var kind: [[WorthKind]] = []

    @Option(
        help: ArgumentHelp("The limit of the cgroup. (default: 256MiB)", valueName: "size"),
        transform: Amounts.size
    )
    var limit: [ByteCount] = []

    @Option(help: ArgumentHelp("The size of a value. (default: 32KiB)", valueName: "size"), transform: Amounts.size)
    var valueSize: [ByteCount] = []

    @Option(help: ArgumentHelp("How uneven the reads are: the exponent of their distribution. (default: 0.9)"))
    var zipf: [Double] = []

    @Option(help: ArgumentHelp("Threads that read, in each process. (default: 1)"))
    var readers: [Int] = []

    @Option(help: "How many values there are; as many as take 1.8 times the limit, if nothing is said.")
    var values: Int?

    @Option(help: "How long each contender is measured, in each round.")
    var seconds: Double?

    @Option(help: "How often each contender is measured; medians are told.")
    var rounds: Int?

    @Flag(help: "Measure PressureKit alone: whether it lives, and how it fares.")
    var alone = false

    @Option(help: "Threads outside of the cgroup that take processor time meanwhile.")
    var busy = 0

    @Option(
        help: ArgumentHelp(
            "How long a load waits before it reads the file, as for a database.",
            valueName: "time"
        ),
        transform: Amounts.duration
    )
    var loadTime: Duration?

    #if Redis
    @Option(
        help: ArgumentHelp(
            "PressureKit has no disk, and spills to this Redis or Valkey server: host, host:port or a socket's path.",
            valueName: "address"
        )
    )
    var remote: RemoteAddress?
    #endif

    @Option(help: ArgumentHelp("Keep the files of values here.", valueName: "directory"), completion: .directory)
    var directory = WorthPlan().directory

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write a page with the curves of both, in one file; with --append, of all runs in that file.",
            valueName: "path"
        ),
        completion: .file(extensions: ["html"])
    )
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Write one picture with the reads of both, for light and for dark pages.",
            valueName: "path"
        ),
        completion: .file(extensions: ["svg"])
    )
    var svg: String?

    @OptionGroup var history: HistoryOption
    @OptionGroup var progress: ProgressOption

    /// This is the process in the cgroup.
    @Option(help: .private)
    var child: String?

    private static func kinds(_ word: String) throws -> [WorthKind] {
        guard let kinds = WorthKind.named(word) else {
            let known = WorthKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\"\(word)\" is no kind; allowed are \(known) and all.")
        }
        return kinds
    }

    func validate() throws {
        if let objection = choice.objection { throw ValidationError(objection) }
        if alone, html != nil || svg != nil || history.append != nil {
            throw ValidationError("--html, --svg and --append are about both contenders: leave out --alone.")
        }
        if let objection = history.objection(html: html) { throw ValidationError(objection) }
        guard [json, html, svg].count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Only one of --json, --html and --svg can be standard output.")
        }
    }

    private var source: WorthSource {
        var source = WorthSource(loadNanoseconds: loadTime?.nanoseconds ?? 0)
        #if Redis
        source.server = remote?.argument
        #endif
        return source
    }

    private var choice: WorthChoice {
        WorthChoice(
            isQuick: quick,
            isGrid: grid,
            kinds: WorthKind.allCases.filter { kind.joined().contains($0) },
            limits: limit,
            valueSizes: valueSize,
            zipfs: zipf,
            readers: readers,
            values: values,
            seconds: seconds,
            rounds: rounds,
            isAlone: alone,
            busy: busy,
            directory: directory,
            source: source
        )
    }

    private var plan: WorthPlan { choice.plan }

    func run() async throws {
        if let child {
            guard let job = try? JSONDecoder().decode(WorthJob.self, from: Data(child.utf8)) else {
                throw ValidationError("Use pressuresim worth without --child.")
            }
            return try await WorthChild(job: job).run()
        }
        // Before minutes of measuring, not after them.
        try CommandOutput.check(json, html, svg, history.append)
        let runs = try history.kept().filter(\.isOfWorth)
        let machine = BenchMachine(spillDirectory: directory, corpus: "", loadBefore: BenchMachine.load)
        let progress = self.progress.progress
        let worth = Worth(plan: plan, progress: progress)
        CutShort.reporting {
            LimitedGroup.removeAll()
            worth.board.clear()
            progress.stop()
            let report = WorthReport(plan: plan, results: worth.board.results)
            let run = WorthHistory(report: report).run(machine, commit: history.commit)
            if !report.results.isEmpty { _ = try? tell(report.results, runs + [run]) }
        }
        progress.start { nil }
        defer { progress.stop() }
        let results = try await Blocking.run("worth") { try worth.run() }
        progress.stop()
        let report = WorthReport(plan: plan, results: results)
        let run = WorthHistory(report: report).run(machine, commit: history.commit)
        try tell(results, runs + [run])
        try history.keep(run)
        guard report.isRight else { throw ExitStatus.expectationFailed.exitCode }
    }

    /// - Parameter runs: those that were kept before, and this one.
    private func tell(_ results: [WorthResult], _ runs: [BenchRun]) throws {
        let isQuiet = [json, html, svg].contains("-")
        let report = WorthReport(plan: plan, results: results, style: isQuiet ? .plain : .output)
        if !isQuiet { try CommandOutput.print(report.text) }
        if let json { try CommandOutput.write(CommandJSON.encode(WorthJSON(report)), to: json) }
        let plain = WorthReport(plan: plan, results: results)
        let page = WorthPage(report: plain, machine: .current(spillDirectory: nil), runs: runs)
        if let html { try CommandOutput.write(Data(page.page.text.utf8), to: html) }
        if let svg { try CommandOutput.write(Data(page.picture.text.utf8), to: svg) }
    }
}
