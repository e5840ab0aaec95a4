import Foundation
import Testing

@testable import ScenarioLanguage

/// Traces that people have: what is none says why, and where the scenario names it.
@Suite struct TraceFileTests {
    private func reason(_ bytes: [UInt8], _ directory: URL) throws -> String? {
        let file = directory.appendingPathComponent("trace")
        try Data(bytes).write(to: file)
        return #expect(throws: TraceFile.Refusal.self) { try TraceFile.keys(file.path) }?.reason
    }

    @Test func whatIsNoTraceSaysWhy() async throws {
        try await withTemporaryDirectory { (directory: URL) async throws in
            #expect(try reason([], directory) == "has no keys")
            #expect(try reason(Array("# only this\n\n".utf8), directory) == "has no keys")
            #expect(try reason([0x1F, 0x8B, 8, 0], directory) == "is compressed; unpack it first (gunzip)")
            #expect(try reason(Array("a\nb\n".utf8) + [0xE4, 0x0A], directory) == "is no text in UTF-8, in line 3")
            #expect(try reason([0x61, 0x00, 0x0A], directory) == "is no text: it has bytes that are zero")
            let missing = #expect(throws: TraceFile.Refusal.self) { try TraceFile.keys("\(directory.path)/none") }
            #expect(missing?.reason == "cannot be read: No such file or directory")
            let folder = #expect(throws: TraceFile.Refusal.self) { try TraceFile.keys(directory.path) }
            #expect(folder?.reason == "cannot be read: Is a directory")
            let device = #expect(throws: TraceFile.Refusal.self) { try TraceFile.keys("/dev/zero") }
            #expect(device?.reason == "cannot be read: Not a regular file")
        }
    }

    @Test func commentsAndEmptyLinesAreNoKeys() async throws {
        try await withTemporaryDirectory { (directory: URL) async throws in
            let file = directory.appendingPathComponent("trace")
            try Data("# a comment\nx\r\ny\n\nx\nz".utf8).write(to: file)
            #expect(try TraceFile.keys(file.path) == ["x", "y", "x", "z"])
        }
    }

    /// `check` says what `run` would fail at, with the place in the scenario.
    @Test func aScenarioThatNamesNoTraceIsWrong() async throws {
        try await withTemporaryDirectory { (directory: URL) async throws in
            try Data().write(to: directory.appendingPathComponent("trace"))
            let file = directory.appendingPathComponent("scenario.yaml").path
            let text = smallScenario.replacingOccurrences(
                of: "of: shelf/*",
                with: "of: shelf/*, pattern: {trace: trace}"
            )
            let error = #expect(throws: ScenarioError.self) { try ScenarioFile.parse(text, file: file) }
            #expect(error?.description.contains("17:18") == true, "\(error.debugDescription)")
            #expect(error?.description.contains("a trace \"trace\" that has no keys") == true)
        }
    }
}
