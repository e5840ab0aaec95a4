#if !THREAD_SANITIZER  // Makes or weighs processes.
import CLinuxShims
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What a manager costs that has nothing to do.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RestingManagerTests {
    /// KiB of the process's own memory, page cache and code aside.
    static func privateMemory() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// A machine of 64 processors, with a limit that is written where a cgroup has it.
    static func configuration(limit: String, spillingTo directory: String) throws -> (PressureConfiguration, String) {
        let root = FileManager.default.temporaryDirectory.appending(path: "pk-rest-\(UUID().uuidString)").path
        func write(_ name: String, _ text: String) throws {
            let url = URL(filePath: root + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        try write("/proc/self/cgroup", "0::/app\n")
        try write("/proc/self/mountinfo", "29 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n")
        try write("/sys/fs/cgroup/app/memory.current", "1000000\n")
        try write("/sys/fs/cgroup/app/memory.max", limit + "\n")
        try write("/sys/fs/cgroup/app/memory.stat", "inactive_file 0\nactive_file 0\n")
        var configuration = PressureConfiguration()
        configuration.spillDirectory = directory
        configuration.limits.root = root
        configuration.processors = { 64 }
        return (configuration, root)
    }

    /// Below 128 MiB at most 4 MiB, on as many processors as there may be; without a limit not much more.
    @Test(arguments: [("134217728", 4096), ("67108864", 4096), ("max", 8192)])
    func costsLittle(limit: String, most: Int) async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) {
            [path = directory.path as String, limit = limit as String, most = most as Int] in
            let (configuration, root) = try RestingManagerTests.configuration(limit: limit, spillingTo: path)
            defer { try? FileManager.default.removeItem(atPath: root) }
            let before = RestingManagerTests.privateMemory()
            let manager = try PressureManager(configuration: configuration)
            try manager.beginRunning()
            let cost = RestingManagerTests.privateMemory() - before
            // What each worker cost as long as its scratch was touched when it was made.
            let workers = manager.context.engine.workers
            var touched: [ChunkEncoder] = []
            let first = RestingManagerTests.privateMemory()
            let decoder = try ChunkDecoder()
            for _ in 0..<workers {
                let encoder = try ChunkEncoder()
                do throws(SpillFailure) { try manager.context.engine.file.rehearse(with: encoder, decoder) } catch {}
                touched.append(encoder)
            }
            let scratch = RestingManagerTests.privateMemory() - first
            let text = "\(cost) KiB with \(workers) workers, whose scratch would be \(scratch) KiB"
            try text.write(toFile: path + "/figure", atomically: false, encoding: .utf8)
            require(cost > 0 && cost <= most, "a manager at rest costs \(cost) KiB with \(workers) workers")
            manager.endRunning()
            withExtendedLifetime(touched) {}
            exit(0)
        }
        let text = try? String(contentsOfFile: directory.path + "/figure", encoding: .utf8)
        figure("a manager at rest, limit \(limit): \(text ?? "unknown")")
    }
}
#endif
