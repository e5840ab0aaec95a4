import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// On trees of plain files that say what the kernel's say.
@Suite struct MemoryGroupTests {
    private func with<Result>(
        _ version: MemoryGroup.Version,
        _ files: [String: String],
        _ body: (MemoryGroup) throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            for (name, text) in files {
                try Data(text.utf8).write(to: directory.appendingPathComponent(name))
            }
            return try body(MemoryGroup(directory: directory.path, version: version))
        }
    }

    @Test func version1() async throws {
        let files = [
            "memory.limit_in_bytes": "268435456\n",
            "memory.usage_in_bytes": "200000000\n",
            "memory.max_usage_in_bytes": "268435456\n",
            "memory.failcnt": "12\n",
            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
            "memory.stat": "inactive_file 1\ntotal_inactive_file 50000000\n",
        ]
        try await with(.v1, files) { group in
            #expect(group.limit == .mebibytes(256))
            #expect(group.available == .bytes(268_435_456 - 150_000_000))
            #expect(group.peak == .mebibytes(256))
            #expect(group.hits == 12)
            #expect(group.kills == 3)
        }
    }

    @Test func version2() async throws {
        let files = [
            "memory.max": "1000000\n",
            "memory.current": "900000\n",
            "memory.peak": "950000\n",
            "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n",
            "memory.stat": "anon 800000\ninactive_file 100000\n",
        ]
        try await with(.v2, files) { group in
            #expect(group.limit == .bytes(1_000_000))
            #expect(group.available == .bytes(200_000))
            #expect(group.peak == .bytes(950_000))
            #expect(group.hits == 7)
            #expect(group.kills == 1)
        }
    }

    @Test func noLimitIsNone() async throws {
        try await with(.v2, ["memory.max": "max\n"]) { #expect($0.limit == nil) }
        try await with(.v1, ["memory.limit_in_bytes": "9223372036854771712\n"]) { #expect($0.limit == nil) }
        try await with(.v1, [:]) { #expect($0.limit == nil && $0.available == nil && $0.kills == nil) }
    }

    @Test func aGroupThatCannotBeMadeSaysWhatItTakes() throws {
        let error = #expect(throws: EnvironmentRefusal.self) {
            try LimitedGroup(limit: .mebibytes(64), parent: "/no/such/directory", version: .v1)
        }
        #expect(error?.message.contains("/no/such/directory: No such file or directory. It takes a memory") == true)
    }

    @Test func whoIsNotRootIsToldSoFirst() {
        let refusal = LimitedGroup.refusal(.mebibytes(64), "/sys/fs/cgroup", "Permission denied", isRoot: false)
        #expect(refusal.message.hasPrefix("Run as root. No cgroup with a limit of 64.0 MiB"))
        #expect(!LimitedGroup.refusal(.mebibytes(64), "/", "", isRoot: true).message.contains("Run as root"))
    }
}

@Suite struct LimitedGroupTests {
    /// A plain directory stands for the hierarchy: the kernel's files are not there, so the limit cannot be set.
    @Test func whatCouldOnlyHalfBeMadeIsGone() async throws {
        try await withTemporaryDirectory { directory in
            #expect(throws: EnvironmentRefusal.self) {
                try LimitedGroup(limit: .mebibytes(64), parent: directory.path, version: .v1)
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(left.isEmpty)
        }
    }

    /// What a killed run has left behind goes; what belongs to a process that lives, or to nobody we know, stays.
    @Test func leftoversAreSwept() async throws {
        try await withTemporaryDirectory { directory in
            let (own, gone) = ("\(Maker.own.prefix)77", "\(Maker.gone.prefix)1")
            for name in [own, gone, "other"] {
                let path = directory.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            }
            _ = try? LimitedGroup(limit: .mebibytes(64), parent: directory.path, version: .v1)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(left == ["other", own])
        }
    }
}
