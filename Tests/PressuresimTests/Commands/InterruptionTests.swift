import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// ^C, as a process gets it.
@Suite(.timeLimit(.minutes(3))) struct CommandInterruptionTests {
    /// Waits until the hog holds what it was to take: its memory is a file of the kernel's.
    private func waitUntilItHolds(_ process: Process, kibibytes: Int) {
        let path = "/proc/\(process.processIdentifier)/status"
        while process.isRunning {
            if let size = ProcessMemory.field("VmRSS", of: path), size.bytes >= kibibytes << 10 { return }
        }
    }

    @Test func anInterruptedHogSaysWhatItTook() throws {
        let (process, output, errors) = try Tool.start(["hog", "--ceiling", "64MiB", "--hold", "60min", "--json", "-"])
        waitUntilItHolds(process, kibibytes: 64 << 10)
        process.interrupt()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json["interrupted"] as? Bool == true)
        #expect((json["taken_bytes"] as? Int ?? 0) > 0)
        #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
    }

    @Test func terminationIsTheSame() throws {
        let (process, output, _) = try Tool.start(["hog", "--ceiling", "64MiB", "--hold", "60min"])
        waitUntilItHolds(process, kibibytes: 64 << 10)
        process.terminate()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(text.hasPrefix("interrupted: took "))
    }

    /// Interrupts a command as soon as it listens, and looks at what it has said when it is gone.
    private func interrupt(_ arguments: [String]) throws -> (Int32, String) {
        let (process, output, errors) = try Tool.start(arguments)
        while process.isRunning, !listens(process) {}
        // Once may be too early by a hair, and twice is allowed: it ends at once then, with the same status.
        let interrupter = Task.detached {
            while process.isRunning {
                process.interrupt()
                try await Task.sleep(for: .seconds(5))
            }
        }
        defer { interrupter.cancel() }
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
        return (process.terminationStatus, text)
    }

    /// Whether it has taken over SIGINT and SIGHUP: the kernel says which signals a process has handlers for.
    private func listens(_ process: Process) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
            let mask = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)
        else { return false }
        return mask & (1 << UInt64(SIGHUP - 1)) != 0 && mask & (1 << UInt64(SIGINT - 1)) != 0
    }

    @Test func anInterruptedComparisonComparesWhatHasPlayed() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("long.yaml")
            let text = smallScenario.replacing("cost: 1ms", with: "cost: 60s")
            try Data(text.utf8).write(to: file)
            // In real time: the first run alone takes a minute.
            let (status, output) = try interrupt(["compare", "--real", file.path])
            #expect(status == 130)
            // Nothing has played yet, so there is nothing to say; and nothing is left behind.
            #expect(output.isEmpty, "\(output)")
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(left == ["long.yaml"])
        }
    }

    @Test func anInterruptedBenchPrintsWhatItHasMeasured() async throws {
        let (status, output) = try interrupt(["bench", "--json", "-"])
        #expect(status == 130)
        // Nothing at all, or every metric, measured or not.
        #expect(output.isEmpty || output.contains("\"metrics\""), "\(output)")
    }
}
