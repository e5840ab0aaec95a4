import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim neighbours`.
struct NeighboursCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "neighbours",
        abstract: "List the processes that share a memory limit, what each holds, and its share.",
        discussion: Prose.flowing(
            """
            Processes of one user with a manager below one limit meet on a board, without being told of each other: a small
            file in /dev/shm. This reads the boards of the calling user and changes nothing.

              pressuresim neighbours
              pressuresim neighbours --json - | jq .boards[].processes

            With --bench it measures instead, as root, in cgroups of its own: how much 2, 4 and 8 processes free together when
            another program takes a quarter of their limit, how soon all have seen it, and whether anybody is killed or loses
            a value while processes come, end and are killed.

            Exit status: 0, also where nobody shares anything; with --bench 1 if somebody was killed or lost a value.
            """
        )
    )

    @Option(help: .json)
    var json: String?

    @Flag(help: "Measure how real processes share a limit; needs root.")
    var bench = false

    @Option(help: ArgumentHelp("How often processes are let come and go.", valueName: "runs"))
    var runs = 50

    @OptionGroup var progress: ProgressOption

    @Flag(help: .private)
    var child = false

    @Option(help: .private)
    var values = 100

    @Option(help: .private)
    var seed: UInt64 = 0

    @Option(help: .private)
    var rate = 0

    @Option(help: .private)
    var taking: Int?

    func run() async throws {
        if child {
            if let taking { return try NeighbourChild.take(taking) }
            return try await NeighbourChild(values: values, seed: seed, rate: rate).run()
        }
        if bench { return try await measure() }
        try CommandOutput.check(json)
        let boards = NeighbourBoard.all()
        if let json { try CommandOutput.write(try CommandJSON.encode(NeighbourFacts(boards: boards)), to: json) }
        if json != "-" { try CommandOutput.print(NeighbourText(boards: boards, style: .output).text) }
    }

    private func measure() async throws {
        try CommandOutput.check(json)
        let progress = progress.progress
        let bench = NeighbourBench(runs: runs, progress: progress)
        progress.start { nil }
        let findings: NeighbourBench.Findings
        do {
            defer { progress.stop() }
            findings = try await Blocking.run("neighbours") { try bench.run() }
        }
        if let json { try CommandOutput.write(try CommandJSON.encode(findings), to: json) }
        if json != "-" { try CommandOutput.print(NeighbourBenchText(findings: findings, style: .output).text) }
        if !findings.isRight { throw ExitStatus.expectationFailed.exitCode }
    }
}
