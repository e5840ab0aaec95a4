import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim soak`.
struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Use the library for a long time in a real cgroup, and look whether anything grows.",
        discussion: Prose.flowing(
            """
            A process in a cgroup of its own holds several times its limit. It reads values and compares every byte,
            changes some, goes into the background and back, and saves its state, which another manager reads. A program
            in the same cgroup may want memory too. Every second its resident memory, its descriptors and the blocks of
            its spill file are looked at from outside; it tells its heap, and how long its restores take.

              sudo pressuresim soak --duration 60min
              sudo pressuresim soak --duration 10min --beside "stress-ng --vm 1 --vm-bytes 32M"

            At the end nothing may be lost, nothing killed, and none of the five may have grown since the first quarter of
            the time: resident memory by a tenth of the limit, heap and spill file by a tenth of what is usual, the
            median of restores by half of it, and the descriptors by three.

            It takes root and a cgroup memory controller that may be written to. The cgroup is gone afterwards.

            Exit status: 0 all that holds; 1 something does not; 2 the input is wrong; 3 the environment refused (the
            message says what to do).
            """
        )
    )

    @Option(help: ArgumentHelp("How long. (default: 10min)", valueName: "time"), transform: Amounts.duration)
    var duration: Duration = .seconds(SoakPlan().seconds)

    @Option(
        help: ArgumentHelp("The limit of the cgroup. (default: 256MiB)", valueName: "size"),
        transform: Amounts.size
    )
    var limit: ByteCount = .bytes(SoakPlan().limitBytes)

    @Option(help: "What is held, as a multiple of the limit.")
    var times = SoakPlan().times

    @Option(help: ArgumentHelp("The size of a value. (default: 256KiB)", valueName: "size"), transform: Amounts.size)
    var valueSize: ByteCount = .bytes(SoakPlan().valueBytes)

    @Option(help: ArgumentHelp("Accesses in a second, at most.", valueName: "number"))
    var rate = SoakPlan().rate

    @Option(help: ArgumentHelp("A program that runs in the same cgroup, with its arguments.", valueName: "command"))
    var beside: String?

    @Option(help: ArgumentHelp("Spill and save to this directory.", valueName: "directory"), completion: .directory)
    var spillDirectory: String?

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    /// This is the process in the cgroup, and here is its plan.
    @Option(help: .private)
    var child: String?

    @Option(help: .private)
    var group: String?

    @Option(help: .private)
    var groupVersion: Int?

    func validate() throws {
        guard duration >= .seconds(10) else { throw ValidationError("--duration must be at least 10s.") }
        guard times >= 0.5, times <= 64 else { throw ValidationError("--times must be between 0.5 and 64.") }
        guard rate >= 1, rate <= 1e6 else { throw ValidationError("--rate must be between 1 and 1000000.") }
        guard valueSize >= .kibibytes(4), valueSize.bytes <= limit.bytes / 4 else {
            throw ValidationError("--value-size must be at least 4KiB and at most a quarter of the limit.")
        }
    }

    private var plan: SoakPlan {
        SoakPlan(
            limitBytes: limit.bytes,
            times: times,
            valueBytes: valueSize.bytes,
            seconds: duration.seconds,
            rate: rate,
            directory: spillDirectory
        )
    }

    func run() async throws {
        if let child, let group, let version = groupVersion.flatMap(MemoryGroup.Version.init) {
            let plan = try JSONDecoder().decode(SoakPlan.self, from: Data(child.utf8))
            return try await SoakChild(plan: plan).run(in: MemoryGroup(directory: group, version: version))
        }
        try CommandOutput.check(json)
        try await drive()
    }

    private func drive() async throws {
        let progress = Progress.onTerminal()
        let neighbour = beside.map { $0.split(separator: " ").map(String.init) } ?? []
        if let program = neighbour.first, !ProgramSearch.finds(program) {
            throw CommandOutput.fail("pressuresim: --beside: there is no program \(program).", .wrongInput)
        }
        let soak = Soak(plan, neighbour: neighbour, progress: progress)
        CutShort.reporting {
            LimitedGroup.removeAll()
            soak.clear()
            progress.stop()
            if let outcome = soak.known { _ = try? tell(outcome, isCutShort: true) }
        }
        progress.start { nil }
        defer { progress.stop() }
        let outcome = try await Blocking.run("soak") { try soak.run() }
        progress.stop()
        guard try tell(outcome).isAsExpected == true else { throw ExitStatus.expectationFailed.exitCode }
    }

    private func tell(_ outcome: Soak.Outcome, isCutShort: Bool = false) throws -> SoakReport {
        let style = json == "-" ? .plain : Style.output
        let report = SoakReport(plan: plan, outcome: outcome, isCutShort: isCutShort, style: style)
        if json != "-" { try CommandOutput.print(report.text) }
        if let json { try CommandOutput.write(CommandJSON.encode(SoakJSON(report)), to: json) }
        return report
    }
}
