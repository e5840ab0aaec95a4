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
}
