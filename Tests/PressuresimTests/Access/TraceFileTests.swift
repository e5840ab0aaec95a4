import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

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
            #expect(try reason([0x1F, 0x8B, 8, 0], directory) == "is compressed by gzip, and damaged")
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

    @Test func tracesMayBePacked() async throws {
        try await withTemporaryDirectory { (directory: URL) async throws in
            let file = directory.appendingPathComponent("trace.gz")
            let (one, two) = (try gzip("x\ny\n"), try gzip("z\n"))
            try (one + two).write(to: file)
            #expect(try TraceFile.keys(file.path) == ["x", "y", "z"])
            // Cut anywhere, or with another bit, it is none.
            for count in 2..<one.count {
                #expect(try reason(Array(one.prefix(count)), directory)?.hasSuffix("damaged") == true)
            }
            var other = Array(one)
            other[other.count - 6] ^= 1
            #expect(try reason(other, directory)?.hasSuffix("damaged") == true)
            // Small here, and large there.
            let bomb = try gzip(String(repeating: "\n", count: TraceFile.mostBytes + 1))
            #expect(try reason(Array(bomb), directory) == "unpacks to more than 64 MiB")
        }
    }

    private func gzip(_ text: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-n"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let writer = input.fileHandleForWriting
        let thread = Thread {
            try? writer.write(contentsOf: Data(text.utf8))
            try? writer.close()
        }
        thread.start()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return data
    }

    /// Sizes and costs of values are those of the trace: the first line of a key counts.
    @Test func sizesAndCostsMayComeFromTheTrace() async throws {
        try await withTemporaryDirectory { (directory: URL) async throws in
            let trace = directory.appendingPathComponent("requests")
            try Data("# key size cost\nx\t4096\t2ms\ny\t8KiB\t30ms\nx\t1\t1h\nz\t100B\t0ms\n".utf8).write(to: trace)
            let text = """
                name: Requests
                controllers:
                  - name: server
                    caches:
                      - name: pages
                        keyed: {keys: 3}
                        size: {trace: requests}
                        content: text
                        loader: {cost: {trace: requests}}
                timeline:
                  - access: {of: server/pages, pattern: {trace: requests}}
                """
            let file = directory.appendingPathComponent("scenario.yaml").path
            let scenario = try ScenarioFile.parse(text, file: file)
            #expect(TraceKeys.paths(of: scenario, file: file).allSatisfy { $0 == trace.path })
            let record = try await Simulation(scenario, file: file, stage: .virtual()).run()
            #expect(record.valueBytes == 4096 + 8192 + 100)
            // x, y, x, z: three loads, of 2, 30 and 0 ms.
            let access = CostModel().access
            #expect(record.tally.latencies[.load]?.total == (access * 3 + .milliseconds(32)).nanoseconds)

            func complaint(_ lines: String, keys: Int = 3) throws -> String? {
                try Data(lines.utf8).write(to: trace)
                let text = text.replacing("keys: 3", with: "keys: \(keys)")
                return #expect(throws: ScenarioError.self) { try ScenarioFile.parse(text, file: file) }?.description
            }
            let odd = try complaint("x\t12KB\t1ms\ny\t1\t1ms\nz\t1\t1ms\n")
            #expect(
                odd?.contains("\"requests\" that has no size such as 4096 or 4KiB after the tab, in line 1") == true
            )
            let short = try complaint("x\t1\t1ms\n\n#\ny\t2\nz\t2\t1ms\n")
            #expect(short?.contains("that has a key without a cost (key, tab, size, tab, cost)") == true)
            let few = try complaint("x\t1\t1ms\n")
            #expect(few?.contains("that has 1 keys for 3 values") == true)
            #expect(few?.contains("5:15") == true)
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
