import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// SIGKILL, which leaves the tool no time: its children end all the same, and the next run removes what is left.
@Suite(.timeLimit(.minutes(5))) struct KilledTests {
    /// Starts the tool, kills it as soon as it has so many processes below it, and looks whether these end.
    private func kill(_ arguments: [String], withProcesses count: Int) throws {
        let run = try Tool.start(arguments)
        var below: [Int32] = []
        // A shell is about to become what was asked for.
        try wait {
            below = descendants(of: run.process.processIdentifier)
            let names = below.map { KernelText.read("/proc/\($0)/comm") }
            return !run.process.isRunning || below.count >= count && !names.contains("sh\n")
        }
        try #require(run.process.isRunning, "it has ended by itself")
        Glibc.kill(run.process.processIdentifier, SIGKILL)
        try wait { below.allSatisfy { ProcessState("\($0)")?.hasEnded ?? true } }
    }

    /// Until something is so; for a minute at most, in place of for ever.
    private func wait(until isSo: () -> Bool) throws {
        for _ in 0..<6000 {
            if isSo() { return }
            usleep(10_000)
        }
        try #require(isSo())
    }

    /// Its children, theirs, and so on, by what the kernel says of each process.
    private func descendants(of process: Int32) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let children = entries.compactMap { Int32($0) }.filter { number in
            (KernelText.read("/proc/\(number)/status") ?? "").contains("\nPPid:\t\(process)\n")
        }
        return children.flatMap { [$0] + descendants(of: $0) }
    }

    private func played(_ text: String, in directory: URL) throws -> [String] {
        let file = directory.appendingPathComponent("\(UUID()).yaml")
        try Data(text.utf8).write(to: file)
        let spill = directory.appendingPathComponent("spill")
        try? FileManager.default.createDirectory(at: spill, withIntermediateDirectories: false)
        return ["run", file.path, "--spill-directory", spill.path]
    }

    /// A life of a scenario with `relaunch` waits while a hog that it started holds memory.
    @Test func livesHogsAndSavedStatesGoToo() async throws {
        try await withTemporaryDirectory { directory in
            let text = smallScenario.replacing(
                "  - warning: critical",
                with: "  - relaunch\n  - hog: {size: 8MiB, for: 60min}\n  - wait: 60min\n  - relaunch\n  - verify"
            )
            let spill = directory.appendingPathComponent("spill").path
            try await Blocking.run("killed") { try kill(try played(text, in: directory), withProcesses: 2) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: spill).count == 1)
            let outcome = try Tool.run(try played(smallScenario, in: directory))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: spill) == [])
        }
    }

    private static let canLimit = (try? LimitedGroup(limit: .mebibytes(64))) != nil

    /// A scenario's process in a cgroup goes; and of a soak the program beside it too, which knows nothing of us.
    @Test(.enabled(if: canLimit)) func whatIsInACgroupGoesToo() async throws {
        try await withTemporaryDirectory { directory in
            let waiting = smallScenario.replacing("seed: 5", with: "memory: {cgroup_limit: 64MiB}")
                .replacing("  - warning: critical", with: "  - wait: 60min")
            let soak = [
                "soak", "--duration", "60min", "--limit", "64MiB", "--beside", "sleep 3600", "--spill-directory",
                directory.path,
            ]
            try await Blocking.run("killed") {
                try kill(try played(waiting, in: directory), withProcesses: 1)
                try kill(soak, withProcesses: 2)
            }
            let outcome = try Tool.run(try played(smallScenario, in: directory))
            #expect(outcome.status == 0, "\(outcome.errors)")
            let own = MemoryGroup.ancestry()[0]
            let parent = own.version == .v1 ? own : MemoryGroup.ancestry().last ?? own
            let left = try FileManager.default.contentsOfDirectory(atPath: parent.directory)
            #expect(left.compactMap(Maker.init(of:)).filter(\.isGone) == [])
        }
    }
}
