import ArgumentParser
import Foundation
import Glibc
import PressureKit
import ScenarioLanguage

/// A scenario with `memory: {cgroup_limit: …}` is played by a process of its own in a cgroup with that limit. This one
/// only makes the cgroup, starts it, and ends as it did: what it writes goes where this process's output goes.
struct CgroupRun: Sendable {
    /// Tells the process in the cgroup that it is there, and where that is.
    static let variable = "PRESSURESIM_CGROUP"

    /// How a run in a cgroup ended.
    enum End: Hashable, Sendable {
        case exited(Int32)
        /// For memory, by the kernel.
        case killed
        case signalled(Int32)
    }

    /// What the scenario allows.
    var limit: ByteCount
    /// The arguments of this process, without the program.
    var arguments = Array(CommandLine.arguments.dropFirst())
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path

    /// The cgroup that this process plays in; `nil` when it is not there for a scenario.
    static var own: MemoryGroup? {
        guard let text = ProcessInfo.processInfo.environment[variable], let version = text.first?.wholeNumberValue
        else { return nil }
        return MemoryGroup.Version(rawValue: version).map {
            MemoryGroup(directory: String(text.dropFirst(2)), version: $0)
        }
    }

    /// Whether the scenario is to be played by another process, since it has a limit that this one has not.
    static func isNeeded(for scenario: Scenario) -> Bool { scenario.memory.cgroupLimit != nil && own == nil }

    /// - Throws: ``EnvironmentRefusal`` when the scenario has a limit that does not bind here.
    static func check(_ scenario: Scenario) throws(EnvironmentRefusal) {
        guard isNeeded(for: scenario), let limit = scenario.memory.cgroupLimit else { return }
        throw EnvironmentRefusal(
            message: """
                The scenario is to be played in a cgroup of \(limit), and this process is in none. Play it with \
                pressuresim run, as root, or in virtual time.
                """
        )
    }

    /// Makes the cgroup and plays the scenario there. Blocks until it is played; the cgroup is gone then.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made.
    func run() throws -> End {
        let limited = try LimitedGroup(limit: limit)
        let relay = SignalRelay()
        return try limited.removedAfter {
            let process = try limited.start(
                [tool] + arguments,
                output: FileHandle.standardOutput,
                errors: FileHandle.standardError,
                variables: [Self.variable: "\(limited.group.version.rawValue):\(limited.group.directory)"]
            )
            relay.pass(to: process.processIdentifier)
            process.waitUntilExit()
            guard process.terminationReason == .uncaughtSignal else { return .exited(process.terminationStatus) }
            let isKilled = process.terminationStatus == SIGKILL && (limited.group.kills ?? 0) > 0
            return isKilled ? .killed : .signalled(process.terminationStatus)
        }
    }
}

extension CgroupRun {
    /// What `pressuresim run` does with a scenario that has a limit.
    ///
    /// - Throws: the exit status, unless it is 0.
    static func relay(_ scenario: Scenario) async throws {
        let run = CgroupRun(limit: scenario.memory.cgroupLimit ?? .zero)
        switch try await Blocking.run("cgroup", { try run.run() }) {
        case .exited(0): return
        case .exited(let status): throw ExitCode(status)
        case .signalled(let signal): throw ExitCode(128 + signal)
        case .killed:
            let message = "pressuresim: The kernel has killed the process: it did not keep to its \(run.limit)."
            throw CommandOutput.fail(message, .expectationFailed)
        }
    }
}

extension MemoryGroup {
    /// Notes what the kernel counted for the cgroup that the run was limited by.
    func witness(_ record: inout RunRecord) {
        record.cgroupPeak = peak
        record.cgroupHits = hits
    }
}
