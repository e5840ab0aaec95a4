import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// Trees of files as kernels make them, and what the doctor says about each, word for word.
@Suite struct DoctorTests {
    private static let meminfo = """
        MemTotal:       16384000 kB
        MemFree:         2048000 kB
        MemAvailable:    8192000 kB
        SwapTotal:             0 kB
        SwapFree:              0 kB

        """
    private static let calm = """
        some avg10=0.00 avg60=0.00 avg300=0.00 total=1200
        full avg10=0.00 avg60=0.00 avg300=0.00 total=800

        """
    private static let group2 = [
        "memory.current": "100000000\n", "memory.max": "268435456\n", "memory.high": "max\n",
        "memory.stat": "anon 60000000\nfile 40000000\ninactive_file 30000000\nactive_file 10000000\n",
        "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", "cgroup.procs": "1\n",
    ]

    /// Files by path.
    private static let trees: [String: [String: String]] = [
        "host": [
            "proc/meminfo": meminfo,
            "proc/pressure/memory": calm,
            "proc/self/cgroup": "0::/user.slice/app.scope\n",
            "proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n",
            "proc/self/statm": "50000 25000 1000 1 0 30000 0\n",
            "sys/fs/cgroup/user.slice/app.scope/memory.pressure": calm,
        ].merging(below("sys/fs/cgroup/user.slice/app.scope", group2.merging(["memory.max": "max\n"]) { $1 })) { $1 },
        "container": [
            "proc/meminfo": meminfo,
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "31 23 0:28 /../../x /sys/fs/cgroup ro,relatime - cgroup2 cgroup rw\n",
            "proc/self/statm": "50000 25000 1000 1 0 30000 0\n",
        ].merging(below("sys/fs/cgroup", group2)) { $1 },
        "short": [
            "proc/meminfo": meminfo,
            "proc/self/cgroup": "4:memory:/app\n0::/\n",
            "proc/self/mountinfo": "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            "proc/self/statm": "50000 25000 1000 1 0 30000 0\n",
            "sys/fs/cgroup/memory/app/memory.usage_in_bytes": "250000000\n",
            "sys/fs/cgroup/memory/app/memory.limit_in_bytes": "268435456\n",
            "sys/fs/cgroup/memory/app/memory.stat": "total_inactive_file 1000000\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "300000000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1000000\n",
        ],
    ]

    private static func below(_ directory: String, _ files: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: files.map { ("\(directory)/\($0.key)", $0.value) })
    }

    private static func diagnose(_ files: [String: String]) async throws -> Diagnosis {
        try await withTemporaryDirectory { directory in
            for (path, text) in files {
                let file = directory.appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file)
            }
            var context = SignalContext()
            context.root = directory.path
            context.environment = [:]
            let clock = StepClock()
            let doctor = Doctor(context: context, clock: clock, pause: { clock.advance(by: $0) }) {
                .directory(path: "/var/tmp", from: "default")
            }
            var diagnosis = try doctor.diagnose()
            // The directory has another name each time.
            for index in diagnosis.statuses.indices {
                diagnosis.statuses[index].source.replace(directory.path, with: "")
                diagnosis.statuses[index].detail.replace(directory.path, with: "")
                diagnosis.statuses[index].remedy?.replace(directory.path, with: "")
            }
            for index in diagnosis.votes.indices {
                diagnosis.votes[index].reading?.source.replace(directory.path, with: "")
            }
            return diagnosis
        }
    }

    @Test(arguments: trees.keys.sorted())
    func saysWhatWorksWhatBindsAndWhatWouldFire(name: String) async throws {
        let diagnosis = try await Self.diagnose(#require(Self.trees[name]))
        let text = DiagnosisText(diagnosis: diagnosis, style: .plain).text
        try Golden.expect(text + "\n", equals: "doctor/\(name).txt")
        let json = try CommandJSON.encode(DiagnosisJSON(diagnosis))
        try Golden.expect(String(decoding: json, as: UTF8.self), equals: "doctor/\(name).json")
    }

    @Test func whereNothingCanBeSeenItRefuses() async throws {
        await #expect(throws: PressureError.self) { try await Self.diagnose([:]) }
    }

    @Test func theTool() throws {
        let outcome = try Tool.run(["doctor"])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("/proc/meminfo"))
        #expect(!outcome.output.contains("\u{1B}"))
        let json = try Tool.json(Tool.run(["doctor", "--json", "-"]))
        #expect((json["signals"] as? [Any])?.isEmpty == false)
    }
}
