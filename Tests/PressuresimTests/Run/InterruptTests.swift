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

    private func end(_ run: (process: Process, output: Pipe, errors: Pipe)) throws -> (status: Int32, output: String) {
        let text = try run.output.fileHandleForReading.readToEnd() ?? Data()
        run.process.waitUntilExit()
        return (run.process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    /// What is in the directory that the scenario spills to, and saves its states in.
    private func leftovers(_ directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.appendingPathComponent("spill").path)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func theFirstOnePrintsTheAccountSoFar(signal: Int32) async throws {
        try await withTemporaryDirectory { directory in
            let run = try start(Self.endless, in: directory, until: "title=\"wait")
            kill(run.process.processIdentifier, signal)
            let outcome = try end(run)
            #expect(outcome.status == 130)
            #expect(outcome.output.contains("Interrupted after 3 steps: lost = 0 until then."))
            #expect(outcome.output.contains("4 values out"))
            #expect(outcome.output.contains("– lost == 0"))
            let log = try String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)
            #expect(log.contains("interrupted=yes"))
            #expect(try leftovers(directory) == [])
        }
    }

    /// A process of an earlier life is a child: it goes too, and so does the state that it left.
    @Test func childrenAndStatesAreNotLeftBehind() async throws {
        let text = Self.endless.replacingOccurrences(
            of: "  - wait: 2min",
            with: "  - relaunch\n  - access: {of: shelf/*}\n  - wait: 2min\n  - relaunch\n  - verify"
        )
        try await withTemporaryDirectory { directory in
            // The first life has been killed as planned; the second one waits, and is a child.
            let run = try start(text, in: directory, until: "title=\"critical")
            let children = self.children(of: run.process.processIdentifier)
            kill(run.process.processIdentifier, SIGINT)
            let outcome = try end(run)
            #expect(outcome.status == 130)
            #expect(outcome.output.contains("Interrupted"))
            #expect(try leftovers(directory) == [])
            for child in children { #expect(kill(child, 0) == -1, "child \(child) is alive") }
        }
    }

    /// Nobody reads what the tool writes, so that it hangs in a write: the first one cannot end it, a second one does.
    @Test func aSecondOneEndsAtOnce() async throws {
        let text = Self.endless.replacingOccurrences(
            of: "  - wait: 2min",
            with: Array(repeating: "  - access: {of: shelf/*}", count: 1000).joined(separator: "\n")
        )
        try await withTemporaryDirectory { directory in
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
            #expect(run.process.terminationReason == .exit)
            #expect(run.process.terminationStatus == 130)
        }
    }

    /// Bytes that were written to a pipe and not read yet.
    private func unread(_ pipe: Pipe) -> CInt {
        var count: CInt = 0
        // FIONREAD stores an int.
        _ = unsafe ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
        return count
    }

    private func children(of process: Int32) -> [Int32] {
        let path = "/proc/\(process)/task/\(process)/children"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { Int32($0) }
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
