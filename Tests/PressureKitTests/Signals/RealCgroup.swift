import CLinuxShims
import Foundation
import PressureKit
import Testing

/// A cgroup of the real system that a test makes for itself, in the tree of version 1's memory controller and, for stalls,
/// in the unified one. It is removed at the end, with the processes that were put there.
final class RealCgroup {
    private static let mounts: [CgroupMount] = {
        let text = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/mountinfo"))) ?? Data()
        return CgroupMount.parse(Array(text))
    }()

    /// Why there is none here; `nil` when there is. Asked by making one.
    static let obstacle: String? = {
        guard getuid() == 0 else { return "skipped: making cgroups takes root" }
        guard mounts.contains(where: { $0.tree == .memory }) else {
            return "skipped: no memory controller of cgroup version 1 is mounted"
        }
        guard mounts.contains(where: { $0.tree == .unified }) else {
            return "skipped: no cgroup tree of version 2 is mounted"
        }
        do {
            let cgroup = try RealCgroup(limit: .mebibytes(64))
            guard FileManager.default.fileExists(atPath: cgroup.unified + "/memory.pressure") else {
                return "skipped: the kernel has no pressure stall information"
            }
            return nil
        } catch {
            return "skipped: no cgroup can be made: \(error)"
        }
    }()

    static var isUsable: Bool { obstacle == nil }
    static var comment: Comment { Comment(rawValue: obstacle ?? "cgroups of version 1 can be made") }

    /// The directory of version 1.
    let memory: String
    /// The directory of version 2.
    let unified: String
    /// The name in both trees.
    let name: String
    private var processes: [Process] = []

    /// Makes an empty cgroup with a limit.
    init(limit: ByteCount) throws {
        name = "pk-test-\(getpid())-\(UInt32.random(in: 0...(.max)))"
        memory = Self.mounts.first { $0.tree == .memory }!.point + "/" + name
        unified = Self.mounts.first { $0.tree == .unified }!.point + "/" + name
        try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: unified, withIntermediateDirectories: false)
        try Data("\(limit.bytes)".utf8).write(to: URL(fileURLWithPath: memory + "/memory.limit_in_bytes"))
    }

    deinit {
        for process in processes {
            // SIGTERM is blocked in what a test's thread starts.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        remove(memory)
        remove(unified)
    }

    /// The kernel lets go of a process's cgroup a moment after the process is waited for.
    func remove(_ directory: String) {
        for _ in 0..<500 where unsafe rmdir(directory) != 0 && errno == EBUSY { usleep(10_000) }
    }

    /// A root whose process is in this cgroup.
    func root() throws -> FakeRoot {
        let root = try FakeRoot()
        try root.write("/proc/self/cgroup", "4:memory:/\(name)\n0::/\(name)\n")
        try root.write(
            "/proc/self/mountinfo",
            """
            35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw

            """
        )
        try root.link("/sys/fs/cgroup/memory", to: Self.mounts.first { $0.tree == .memory }!.point)
        try root.link("/sys/fs/cgroup/unified", to: Self.mounts.first { $0.tree == .unified }!.point)
        return root
    }

    /// Runs a shell line in this cgroup, with a pipe for its standard input.
    @discardableResult
    func run(_ command: String) throws -> (process: Process, input: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "echo $$ > \(memory)/cgroup.procs && echo $$ > \(unified)/cgroup.procs && \(command)",
        ]
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        processes.append(process)
        return (process, pipe.fileHandleForWriting)
    }

    /// A process that takes as much memory as is written to it, up to `most`.
    func sponge(most: ByteCount) throws -> FileHandle {
        try run("exec dd bs=\(most.bytes) count=1 iflag=fullblock of=/dev/null 2>/dev/null").input
    }
}
