import Foundation
import Testing

@testable import SampleContent
@testable import pressuresim

/// `pressuresim bench` as a process: exit status, what it prints where.
@Suite(.timeLimit(.minutes(5))) struct BenchCommandTests {
    /// The tool that was built together with the tests.
    private static let tool: URL? = {
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let beside = executable.deletingLastPathComponent().appendingPathComponent("pressuresim")
        let built = packageDirectory.appendingPathComponent(".build/debug/pressuresim")
        return [beside, built].first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let tool: URL = try #require(Self.tool, "pressuresim has not been built")
        let process = Process()
        process.executableURL = tool
        process.arguments = ["bench"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    @Test func missedGoalsAreNoFailure() async throws {
        try await withTemporaryDirectory { directory in
            let text = TextContent(seed: 3)
            try Data(bytes(100_000) { text.fill(&$0, index: 0) }).write(to: directory.appendingPathComponent("a.txt"))
            let outcome = try run(["--tiny", "--corpus", directory.path, "--json", "-"])
            #expect(outcome.status == 0)
            let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
            let metrics = try #require(json?["metrics"] as? [[String: Any]])
            // A debug build reaches no goal for reads.
            #expect(metrics.contains { $0["holds"] as? Bool == false })
        }
    }

    @Test func aCorpusWithoutFilesIsWrongInput() async throws {
        try await withTemporaryDirectory { directory in
            let outcome = try run(["--tiny", "--corpus", directory.path])
            #expect(outcome.status == 2)
        }
    }

    @Test func aSpillDirectoryThatIsNotThereRefuses() async throws {
        try await withTemporaryDirectory { directory in
            let text = TextContent(seed: 3)
            try Data(bytes(100_000) { text.fill(&$0, index: 0) }).write(to: directory.appendingPathComponent("a.txt"))
            let outcome = try run(["--tiny", "--corpus", directory.path, "--spill-directory", "/no/such/directory"])
            #expect(outcome.status == 3)
        }
    }

    @Test func helpSaysWhatTheStatusMeans() throws {
        let help = try run(["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("0 measured, whether goals are reached or missed"))
        #expect(!help.output.contains("--tiny"))
    }
}
