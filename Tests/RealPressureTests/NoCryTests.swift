import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// What is no pressure must not be taken for one.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: RealMachine.isAvailable, "\(RealMachine.objection ?? "")"))
struct NoCryTests {
    /// A file of four times the limit is written and read, again and again: the cgroup is full all the time, of page
    /// cache that the kernel takes back whenever it needs the room.
    @Test func streamingAFileRaisesNoWarning() throws {
        let tool = try #require(RealMachine.tool).path
        let limited = try LimitedGroup(limit: .mebibytes(128))
        defer { limited.remove() }
        let file = "/var/tmp/pressuresim-stream-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let write = "dd if=/dev/zero of=\(file) bs=1M count=512 conv=notrunc"
        let read = "dd if=\(file) of=/dev/null bs=1M"
        let stream = try limited.start(["sh", "-c", "while \(write) && \(read) && \(read); do :; done"])
        defer { stream.terminate() }
        let watched = try limited.run([tool, "watch", "--duration", "15s", "--json", "-"])
        #expect(watched.status == 0, "\(watched)")
        // It did fill the cgroup, or nothing was shown.
        #expect((limited.group.peak ?? .zero) >= .mebibytes(124))
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(watched.output.utf8)) as? [String: Any]
        )
        #expect(report["level"] as? String == "normal")
        #expect((report["decisions"] as? [Any])?.count == 0, "\(report["decisions"] ?? "")")
        let signals = try #require(report["signals"] as? [[String: Any]])
        #expect(signals.contains { ($0["source"] as? String) == limited.group.directory }, "the limit was not watched")
    }
}
