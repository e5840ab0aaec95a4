import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// ^C, as a user's terminal sends it: what is told, what is left, and how the tool ends.
@Suite(.timeLimit(.minutes(5))) struct InterruptTests {
    private static let endless = """
        name: Endless
        controllers:
          - name: shelf
            caches:
              - {name: kept, count: 4, size: 64KiB, content: text, loader: none}
        timeline:
          - access: {of: shelf/*}
          - warning: critical
          - wait: 2min
        expect: {lost: == 0}
        """

    private struct Outcome: Sendable {
        var status: Int32
        var output: String
        var log: String
        /// What is left where the scenario spills to, and saves its states.
        var leftovers: [String]
        /// Those children that it had when it was interrupted.
        var children: [Int32]
    }

    /// Plays a scenario, interrupts it when its log has a line with `words`, and waits for its end. On a thread of its own:
    /// other tests want theirs.
    ///
    /// - Parameter hasChild: whether it is to have started a process as well.
    private func interrupt(
        _ text: String,
        when words: String,
        hasChild: Bool = false,
        by signal: Int32 = SIGINT
    ) async throws -> Outcome {
        try await withTemporaryDirectory { directory in
            try await Blocking.run("interrupted") {
                let run = try start(text, in: directory, until: words)
                var children = children(of: run.process.processIdentifier)
                while hasChild, children.isEmpty, run.process.isRunning {
                    usleep(10_000)
                    children = self.children(of: run.process.processIdentifier)
                }
                kill(run.process.processIdentifier, signal)
                let output = try run.output.fileHandleForReading.readToEnd() ?? Data()
                run.process.waitUntilExit()
                let spill = directory.appendingPathComponent("spill").path
                return Outcome(
                    status: run.process.terminationStatus,
                    output: String(decoding: output, as: UTF8.self),
                    log: try String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8),
                    leftovers: try FileManager.default.contentsOfDirectory(atPath: spill),
                    children: children
                )
            }
        }
    }

    /// Starts a scenario that spills to `directory`, and waits until its log has a line with `words`.
    private func start(
        _ text: String,
        in directory: URL,
        until words: String
    ) throws -> (process: Process, output: Pipe, errors: Pipe) {
        let file = directory.appendingPathComponent("test.yaml")
        try Data(text.utf8).write(to: file)
        let spill = directory.appendingPathComponent("spill")
        try FileManager.default.createDirectory(at: spill, withIntermediateDirectories: false)
        let log = directory.appendingPathComponent("log")
        let run = try Tool.start(["run", file.path, "--log", log.path, "--spill-directory", spill.path])
        while run.process.isRunning, (try? String(contentsOf: log, encoding: .utf8))?.contains(words) != true {
            usleep(10_000)
        }
        return run
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func theFirstOnePrintsTheAccountSoFar(signal: Int32) async throws {
        let outcome = try await interrupt(Self.endless, when: "title=\"wait", by: signal)
        #expect(outcome.status == 130)
        #expect(outcome.output.contains("Interrupted after 3 steps: lost = 0 until then."))
        #expect(outcome.output.contains("4 values out"))
        #expect(outcome.output.contains("– lost == 0"))
        #expect(outcome.log.contains("interrupted=yes"))
        #expect(outcome.leftovers == [])
    }

    /// A process of an earlier life is a child: it goes too, and so does the state that it left.
    @Test func childrenAndStatesAreNotLeftBehind() async throws {
        let text = Self.endless.replacingOccurrences(
            of: "  - wait: 2min",
            with: "  - relaunch\n  - access: {of: shelf/*}\n  - wait: 2min\n  - relaunch\n  - verify"
        )
        // The first life has been killed as planned; the second one waits, and is a child.
        let outcome = try await interrupt(text, when: "title=\"critical", hasChild: true)
        #expect(outcome.status == 130)
        #expect(outcome.output.contains("Interrupted"))
        #expect(outcome.leftovers == [])
        #expect(!outcome.children.isEmpty)
        for child in outcome.children { #expect(kill(child, 0) == -1, "child \(child) is alive") }
    }

    /// Nobody reads what the tool writes, so that it hangs in a write: the first one cannot end it, a second one does.
    @Test func aSecondOneEndsAtOnce() async throws {
        let text = Self.endless.replacingOccurrences(
            of: "  - wait: 2min",
            with: Array(repeating: "  - access: {of: shelf/*}", count: 1000).joined(separator: "\n")
        )
        let (reason, status) = try await withTemporaryDirectory { directory in
            try await Blocking.run("interrupted") {
                let file = directory.appendingPathComponent("test.yaml")
                try Data(text.utf8).write(to: file)
                let run = try Tool.start(["run", file.path, "--log", "-"])
                // A pipe holds 64 KiB (pipe(7)).
                while run.process.isRunning, unread(run.output) < 60_000 { usleep(10_000) }
                // Signals that come together are one, so as many as it takes.
                while run.process.isRunning {
                    kill(run.process.processIdentifier, SIGINT)
                    usleep(50_000)
                }
                run.process.waitUntilExit()
                return (run.process.terminationReason, run.process.terminationStatus)
            }
        }
        #expect(reason == .exit)
        #expect(status == 130)
    }

    /// Bytes that were written to a pipe and not read yet.
    private func unread(_ pipe: Pipe) -> CInt {
        var count: CInt = 0
        // FIONREAD stores an int.
        _ = unsafe ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
        return count
    }

    /// Those whose parent it is, by what the kernel says of each process.
    private func children(of process: Int32) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { number in
            let status = (try? String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)) ?? ""
            return status.contains("\nPPid:\t\(process)\n")
        }
    }
}

/// What an interrupted run says.
@Suite(.timeLimit(.minutes(2))) struct InterruptedRecordTests {
    /// Without a reclaim nobody else looks at the spill file.
    @Test func theSpillFileIsLookedAt() async throws {
        let text = """
            name: Limited
            controllers:
              - name: shelf
                caches:
                  - {name: kept, size: 64KiB, content: text, loader: none, keyed: {keys: 20, count_limit: 4}}
            timeline:
              - access: {of: shelf/kept, count: 40}
              - wait: 24h
            """
        let (stop, events) = (StopSignal(), EventLog(keeps: true))
        let simulation = Simulation(try scenario(text), file: "test.yaml", stage: .real(stop: stop, events: events))
        let watch = Task {
            func waits() -> Bool {
                events.events.contains {
                    $0.kind == "step" && $0.words.contains { $0.name == "number" && $0.value == "2" }
                }
            }
            while !waits(), !Task.isCancelled { try await Task.sleep(for: .milliseconds(1)) }
            stop.set()
        }
        defer { watch.cancel() }
        let record = try await simulation.run()
        #expect(record.isInterrupted)
        #expect(record.reclaims.isEmpty)
        #expect(record.outflow.copiedBytes > 0)
        #expect(record.spillFilePeak > .zero)
    }
}

@Suite struct StopSignalTests {
    @Test func sleepersAreWoken() throws {
        let stop = StopSignal()
        let ended = Lock(false)
        try Blocking.parallel(2) { index in
            guard index == 0 else { return stop.set() }
            stop.sleep(.seconds(3600))
            ended.withLock { $0 = true }
        }
        #expect(ended.withLock { $0 })
        #expect(stop.isSet)
    }

    @Test func childrenThatAreEntrustedAreKilled() throws {
        for isLate in [false, true] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sleep")
            process.arguments = ["3600"]
            try process.run()
            let stop = StopSignal()
            if isLate { stop.set() }
            let ticket = stop.entrust(.child(process.processIdentifier))
            stop.set()
            process.waitUntilExit()
            stop.release(ticket)
            #expect(process.terminationReason == .uncaughtSignal)
        }
    }
}
