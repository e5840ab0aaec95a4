import ArgumentParser
import Foundation
import PressureKit

/// The process in a cgroup that `pressuresim bench --signals` starts. Nobody else should.
struct SignalsChildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signals-child",
        abstract: "Measure one signal's latency in the cgroup that this process is in.",
        shouldDisplay: false
    )

    @Argument var kind: String
    @Option var samples: Int
    @Option var directory: String
    @Option var group: String
    @Option var groupVersion: Int

    func run() async throws {
        guard let kind = SignalsBench.Kind(rawValue: kind), let version = MemoryGroup.Version(rawValue: groupVersion)
        else { throw ValidationError("Use pressuresim bench --signals.") }
        let child = SignalsBenchChild(
            kind: kind,
            group: MemoryGroup(directory: group, version: version),
            samples: samples,
            directory: directory
        )
        do {
            try await CommandOutput.write(JSONEncoder().encode(child.run()), to: "-")
        } catch {
            throw CommandOutput.fail("\(error)", .environmentRefused)
        }
    }
}

/// `pressuresim bench --signals`.
enum SignalsBenchRun {
    /// Measures and reports.
    static func run(quick: Bool, directory: String, json: String?, _ progress: Progress) async throws {
        var bench: SignalsBench = quick ? .quick(directory) : .full(directory)
        bench.progress = progress
        CutShort.reporting { [bench] in
            LimitedGroup.removeAll()
            progress.stop()
            try? tell(bench.board.report, json)
        }
        progress.start { nil }
        let report: SignalsBenchReport
        do {
            defer { progress.stop() }
            let bench = bench
            report = try await Blocking.run("bench") { try bench.run() }
        }
        try tell(report, json)
    }

    private static func tell(_ report: SignalsBenchReport, _ json: String?) throws {
        if json != "-" { try CommandOutput.print(report.text(.output)) }
        if let json { try CommandOutput.write(CommandJSON.encode(report.json), to: json) }
    }
}
