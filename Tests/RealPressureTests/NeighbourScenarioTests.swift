import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// `processes: N` in a real cgroup: that all play, and that one who is killed fails the run.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealMachine.isAvailable, "\(RealMachine.objection ?? "")"))
struct NeighbourScenarioTests {
    private struct Facts: Decodable {
        struct One: Decodable {
            var process: Int
            var end: String
            var lost: Int
            var held_bytes: [Int?]
        }

        var passed: Bool
        var neighbours: [One]
    }

    /// Plays three processes of 64 MiB each below 96 MiB.
    private func play(whilePlaying: (Process) throws -> Void = { _ in }) throws -> (status: Int32, facts: Facts) {
        let text = """
            name: Three
            memory: {cgroup_limit: 96MiB}
            processes: 3
            controllers:
              - name: worker
                caches:
                  - {name: pages, keyed: {keys: 960}, size: 64KiB, content: text, loader: {cost: 1ms}}
                  - {name: kept, count: 4, size: 1MiB, content: text, loader: none}
            timeline:
              - access: {of: worker/pages}
              - access: {of: worker/**, pattern: zipf, count: 1500, every: 2ms}
            expect:
              lost: == 0
              failed_accesses: == 0
            """
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("neighbours-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (file, json) = (directory.path + "/three.yaml", directory.path + "/three.json")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = RealMachine.tool
        process.arguments = ["run", file, "--json", json]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        try whilePlaying(process)
        process.waitUntilExit()
        let decoder = JSONDecoder()
        let facts = try decoder.decode(Facts.self, from: Data(contentsOf: URL(fileURLWithPath: json)))
        return (process.terminationStatus, facts)
    }

    @Test func allPlayAndAreTold() throws {
        let (status, facts) = try play()
        #expect(status == 0 && facts.passed)
        #expect(facts.neighbours.map(\.process) == [1, 2, 3])
        for one in facts.neighbours {
            #expect(one.end == "finished" && one.lost == 0)
            #expect(one.held_bytes.contains { $0 ?? 0 > 8 << 20 })
        }
    }

    @Test func oneThatIsKilledFailsTheRun() throws {
        let (status, facts) = try play { _ in
            // The third of this test's own, found by what it was started with.
            var victim: Int32?
            for _ in 0..<200 where victim == nil {
                victim = Self.process(withArguments: ["three.yaml", "--neighbour 3 "])
                Pause.sleep(.milliseconds(20))
            }
            Pause.sleep(.milliseconds(800))
            kill(try #require(victim), SIGKILL)
        }
        #expect(status == 1 && !facts.passed)
        #expect(facts.neighbours.map(\.end) == ["finished", "finished", "killed"])
        #expect(facts.neighbours[2].held_bytes.last == .some(nil))
    }

    private static func process(withArguments words: [String]) -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.first { number in
            guard let data = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return false }
            let line = String(decoding: data, as: UTF8.self).split(separator: "\0").joined(separator: " ") + " "
            return line.contains("/neighbours-") && words.allSatisfy(line.contains)
        }
    }
}
