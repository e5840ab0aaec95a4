import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim survive`.
struct SurviveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "survive",
        abstract: "Hold four times what a cgroup allows, without PressureKit and with it.",
        discussion: Prose.flowing(
            """
            A demonstration with the real OOM killer. A process in a cgroup of its own loads values until it holds several
            times its limit, while it reads back at random what it has loaded and compares every byte. Once it keeps
            them in a dictionary, and the kernel kills it; once in PressureKit's caches, and it finishes.

              sudo pressuresim survive
              sudo pressuresim survive --limit 1GiB --rate 2GB/s

            It takes root and a cgroup memory controller that may be written to. The cgroups are gone afterwards.

            Exit status: 0 it went that way; 1 it did not; 2 the input is wrong; 3 the environment refused (the message
            says what to do).
            """
        )
    )

    @Option(
        help: ArgumentHelp("The limit of the cgroup. (default: 256MiB)", valueName: "size"),
        transform: Amounts.size
    )
    var limit: ByteCount = SurvivalPlan().limit

    @Option(help: "The working set, as a multiple of the limit.")
    var times = SurvivalPlan().times

    @Option(
        help: ArgumentHelp("How fast values are loaded at most. (default: 500MB/s)", valueName: "rate"),
        transform: Amounts.rate
    )
    var rate: Double = SurvivalPlan().rate

    @Option(help: ArgumentHelp("The size of a value. (default: 1MiB)", valueName: "size"), transform: Amounts.size)
    var valueSize: ByteCount = SurvivalPlan().valueSize

    @Option(help: ArgumentHelp("Spill to this directory.", valueName: "directory"), completion: .directory)
    var spillDirectory: String?

    #if Redis
    @Option(
        help: ArgumentHelp(
            "Spill to this Redis or Valkey server and no disk; its password is in REDISCLI_AUTH.",
            valueName: "address"
        )
    )
    var remote: RemoteAddress?
    #endif

    @Flag(help: "Let what is spilled stay in the page cache, as it does on a machine without a limit.")
    var pageCache = false

    /// For the tests on real disks: this file exists while the spill directory is to be gone.
    @Option(help: .private)
    var outage: String?

    @Flag(help: .private)
    var outageForEver = false

    @Flag(help: "Only the process without PressureKit.")
    var without = false

    @Flag(help: "Only the process with PressureKit.")
    var with = false

    @Flag(help: "Tell on standard error what the library does, as it does it.")
    var trace = false

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    @OptionGroup var progress: ProgressOption

    /// This is the process in the cgroup.
    @Option(help: .private)
    var child: String?

    @Option(help: .private)
    var group: String?

    @Option(help: .private)
    var groupVersion: Int?

    func validate() throws {
        guard times >= 0.5, times <= 64 else { throw ValidationError("--times must be between 0.5 and 64.") }
        guard valueSize >= .kibibytes(4), valueSize.bytes <= limit.bytes / 4 else {
            throw ValidationError("--value-size must be at least 4KiB and at most a quarter of the limit.")
        }
    }

    private var plan: SurvivalPlan {
        var plan = SurvivalPlan(
            limit: limit,
            times: times,
            rate: rate,
            valueSize: valueSize,
            spillDirectory: spillDirectory,
            usesPageCache: pageCache,
            outage: outage.map { SurvivalOutage(file: $0, isForEver: outageForEver) }
        )
        #if Redis
        plan.remote = remote
        #endif
        return plan
    }

    func run() async throws {
        if let child = child.flatMap(SurvivalMode.init), let group,
            let version = groupVersion.flatMap(MemoryGroup.Version.init)
        {
            let group = MemoryGroup(directory: group, version: version)
            return try await SurvivalChild(plan: plan, mode: child, trace: trace).run(in: group)
        }
        try CommandOutput.check(json)
        try await drive()
    }

    private func drive() async throws {
        let progress = self.progress.progress
        let survival = Survival(plan: plan, progress: progress, trace: trace)
        let modes = SurvivalMode.allCases.filter { $0 == .with ? with || !without : without || !with }
        let known = Lock<[Survival.Outcome]>([])
        CutShort.reporting {
            LimitedGroup.removeAll()
            progress.stop()
            let outcomes = known.withLock { $0 }
            if !outcomes.isEmpty { _ = try? tell(outcomes) }
        }
        progress.start { nil }
        defer { progress.stop() }
        try await Blocking.run("survive") {
            for mode in modes {
                let outcome = try survival.run(mode)
                known.withLock { $0.append(outcome) }
            }
        }
        progress.stop()
        guard try tell(known.withLock { $0 }).isAsExpected else { throw ExitStatus.expectationFailed.exitCode }
    }

    private func tell(_ outcomes: [Survival.Outcome]) throws -> SurvivalReport {
        let report = SurvivalReport(plan: plan, outcomes: outcomes, style: json == "-" ? .plain : .output)
        if json != "-" { try CommandOutput.print(report.text) }
        if let json { try CommandOutput.write(CommandJSON.encode(SurvivalJSON(report)), to: json) }
        return report
    }
}
