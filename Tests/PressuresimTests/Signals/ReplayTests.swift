import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// Recordings and what a replay of them says, word for word.
@Suite struct ReplayTests {
    private static func replay(_ text: String) throws -> Replay {
        try Replay(SignalRecording(parsing: Array(text.utf8)), file: "test.signals")
    }

    @Test(arguments: ["squeeze", "stall", "demand"])
    func tellsWhenWhatAndWhy(name: String) throws {
        let replay = try Self.replay(Golden.text("replay/\(name).signals"))
        try Golden.expect(replay.text(.plain) + "\n", equals: "replay/\(name).txt")
        try Golden.expect(String(decoding: CommandJSON.encode(replay), as: UTF8.self), equals: "replay/\(name).json")
    }

    @Test func aQuietRecordingHasNothingToTell() throws {
        let replay = try Self.replay("pressurekit-signals 1\nslot 0 meminfo /m\nsample 5 0=headroom:9/10\n")
        #expect(replay.rows.isEmpty)
        #expect(
            replay.text(.plain) == """
                test.signals
                1 sample in 0.000 s: 0 level changes, 0 reclaims wanted, worst score 0.04, ends at normal
                """
        )
    }

    @Test func nothingAtAllIsARecordingToo() throws {
        #expect(try Self.replay("pressurekit-signals 1\n").samples == 0)
    }
}

/// `pressuresim replay` and `record` as processes.
@Suite(.timeLimit(.minutes(2))) struct ReplayCommandTests {
    @Test func whatWasRecordedCanBeReplayed() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("here.signals").path
            let recorded = try Tool.run(["record", file, "--duration", "50ms"])
            #expect(recorded.status == 0, "\(recorded)")
            #expect(recorded.output.hasSuffix("in \(file)\n"))
            let first = try Tool.run(["replay", file])
            #expect(first.status == 0, "\(first)")
            #expect(first.output == (try Tool.run(["replay", file])).output)
        }
    }

    @Test func aRecordingEndsCleanlyWhenItIsInterrupted() throws {
        let (process, output, _) = try Tool.start(["record", "-"])
        // The header says that the signals have been taken over.
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 3 {
            text += try #require(try output.fileHandleForReading.read(upToCount: 1))
        }
        process.interrupt()
        text += try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(process.terminationReason == .exit)
        let recording = try SignalRecording(parsing: Array(text))
        #expect(recording.places >= 1)
    }

    @Test func whatIsNoRecordingIsWrongInputWithItsLine() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("broken.signals")
            try Data("pressurekit-signals 1\nslot 0 meminfo /m\nsample x\n".utf8).write(to: file)
            let outcome = try Tool.run(["replay", file.path])
            #expect(outcome.status == 2)
            #expect(outcome.errors == "\(file.path):3: \"x\" is no time in nanoseconds\n")
            #expect(outcome.output.isEmpty)
            #expect(try Tool.run(["replay", "/no/such/file"]).status == 2)
        }
    }

    @Test func aFileThatCannotBeWrittenIsRefused() throws {
        #expect(try Tool.run(["record", "/no/such/directory/x", "--duration", "1ms"]).status == 3)
    }
}
