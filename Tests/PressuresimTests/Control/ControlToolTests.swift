import Foundation
import Glibc
import Testing

@testable import pressuresim

/// The tool against a real process that runs a manager: another one of the tool, which plays a scenario.
@Suite(.timeLimit(.minutes(5))) struct ControlToolTests {
    /// An app with two values that have no loader, which then waits to be spoken to.
    private static let scenario = """
        name: Waiting
        seed: 5
        memory: real
        controllers:
          - name: shelf
            visible: true
            caches:
              - name: kept
                count: 2
                size: 1MiB
                content: {synthetic: {compressibility: 0.5}}
                loader: none
        timeline:
          - access: {of: shelf/*}
          - wait: 20min
        """

    /// Calls `body` with a process that listens.
    private func withApp(
        control: String = "1",
        memory: String = "real",
        _ body: (_ process: Process, _ directory: URL) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("waiting.yaml")
            try Data(Self.scenario.replacing("memory: real", with: "memory: \(memory)").utf8).write(to: file)
            let process = Process()
            let tool: URL = try #require(Tool.url, "pressuresim has not been built")
            process.executableURL = tool
            process.arguments = ["run", file.path]
            var environment = ProcessInfo.processInfo.environment
            environment["PRESSUREKIT_CONTROL"] = control
            environment["XDG_RUNTIME_DIR"] = directory.path
            process.environment = environment
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            defer {
                process.terminate()
                process.waitUntilExit()
            }
            try body(process, directory)
        }
    }

    /// Asks until somebody listens and the values are there.
    private func waitUntilFilled(_ process: Process, _ target: String) throws {
        while process.isRunning {
            let outcome = try Tool.run(["status", target, "--json", "-"])
            guard outcome.status == 0 else { continue }
            let status = try #require(try Tool.json(outcome)["status"] as? [String: Any])
            if let bytes = status["bytes"] as? [String: Int], bytes["resident"] ?? 0 >= 2 << 20 { return }
        }
        Issue.record("the app has ended")
    }

    @Test func everyCommandWorksOnAProcessByItsNumber() async throws {
        try await withApp { process, directory in
            let target = "\(process.processIdentifier)"
            try waitUntilFilled(process, target)
            let warned = try Tool.run(["warn", target, "critical"])
            #expect(warned.status == 0, "\(warned)")
            #expect(warned.output.hasPrefix("freed 2.0 MiB"), "\(warned)")
            let status = try Tool.run(["status", target])
            #expect(status.status == 0)
            for word in [" \(target)\n", "shelf/kept", "spilled", "control socket", "2 evictions"] {
                #expect(status.output.contains(word), "\(word) in \(status.output)")
            }
            for arguments in [["evict", target, "1MiB"], ["background", target], ["foreground", target]] {
                let outcome = try Tool.run(arguments + ["--json", "-"])
                #expect(outcome.status == 0, "\(outcome)")
                let json = try Tool.json(outcome)
                #expect(json["command"] as? String == arguments[0])
                #expect(json["report"] != nil)
            }
            // And by its path.
            let path = directory.appendingPathComponent("pressurekit/\(target).sock").path
            #expect(try Tool.run(["status", path]).status == 0)
        }
    }

    /// Whatever memory the scenario has. In a cgroup another process plays, which says who it is.
    @Test(arguments: [
        "simulated",
        "{taken_since_start: {warning: {enter: 1GiB, leave: 900MiB}, critical: {enter: 2GiB, leave: 1GiB}}}",
    ])
    func itListensInEveryMode(memory: String) async throws {
        try await withApp(memory: memory) { process, _ in
            try waitUntilFilled(process, "\(process.processIdentifier)")
            let warned = try Tool.run(["warn", "\(process.processIdentifier)", "critical"])
            #expect(warned.output.hasPrefix("freed 2.0 MiB"), "\(warned)")
        }
    }

    @Test func inVirtualTimeItIsSaidThatNobodyListens() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("small.yaml")
            try Data(smallScenario.utf8).write(to: file)
            let process = Process()
            let tool: URL = try #require(Tool.url, "pressuresim has not been built")
            process.executableURL = tool
            process.arguments = ["run", "--virtual", file.path]
            process.environment = ProcessInfo.processInfo.environment.merging(["PRESSUREKIT_CONTROL": "1"]) { $1 }
            let errors = Pipe()
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            try process.run()
            let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(text == "pressuresim: nobody can speak to a run in virtual time: hours take seconds.\n")
        }
    }

    /// `make live`: it says how it is spoken to, and is.
    @Test func aNewcomerHasSomebodyToSpeakTo() throws {
        let tool: URL = try #require(Tool.url, "pressuresim has not been built")
        let process = Process()
        process.executableURL = packageDirectory.appendingPathComponent("scripts/live.sh")
        process.arguments = [tool.path]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        defer { process.interrupt() }
        var said = ""
        while !said.contains("listening: pressuresim status \(process.processIdentifier)\n") {
            let more = errors.fileHandleForReading.availableData
            try #require(!more.isEmpty, "\(said)")
            said += String(decoding: more, as: UTF8.self)
        }
        let number = "\(process.processIdentifier)"
        try waitUntilFilled(process, number)
        #expect(try Tool.run(["warn", number, "critical"]).output.hasPrefix("freed "))
        #expect(try Tool.run(["status", number]).output.contains("shop/drafts-*  "))
        process.interrupt()
        let account = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(account.contains("Interrupted after"))
    }

    /// The tool reads the process's own environment.
    @Test func aPathOfTheEnvironmentsIsFoundByTheNumber() async throws {
        let path = "/tmp/pk-tool-\(UUID().uuidString.prefix(8)).sock"
        try await withApp(control: path) { process, _ in
            try waitUntilFilled(process, "\(process.processIdentifier)")
            #expect(try Tool.run(["status", path]).status == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func whereNothingListensTheRemedyIsSaid() throws {
        let number = "\(getpid())"
        for (target, words) in [
            (number, ["Nothing listens for process \(number).", "Start it with PRESSUREKIT_CONTROL=1"]),
            ("/no/such.sock", ["Nothing listens for /no/such.sock.", "PRESSUREKIT_CONTROL=/no/such.sock"]),
            ("2147483647", ["There is no process 2147483647."]),
            ("/" + String(repeating: "x", count: 200), ["longer than the 107 bytes"]),
        ] {
            for command in [["status"], ["warn"], ["background"], ["foreground"]] {
                let outcome = try Tool.run(command + [target])
                #expect(outcome.status == 3)
                #expect(outcome.output.isEmpty)
                for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
            }
        }
    }

    /// One that accepts and says nothing, and one that hangs up.
    @Test func aSilentSocketIsNotWaitedForForEver() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let listener = try #require(Listener(path))
            let silent = try Tool.run(["status", path, "--timeout", "200ms"])
            #expect(silent.status == 3)
            #expect(silent.errors.contains("has not answered within"))
            #expect(silent.errors.contains("--timeout"))
            withExtendedLifetime(listener) {}
        }
    }

    private final class Listener {
        private let descriptor: Int32

        init?(_ path: String) {
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            guard path.utf8.count < 108 else { return nil }
            let bytes = Array(path.utf8)
            // The path is shorter than the array it is copied to, and the address as long as is said.
            let status = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room -> Int32 in
                unsafe room.copyBytes(from: bytes)
                return 0
            }
            let bound = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard status == 0, bound == 0, listen(descriptor, 4) == 0 else { return nil }
        }

        deinit { close(descriptor) }
    }
}
