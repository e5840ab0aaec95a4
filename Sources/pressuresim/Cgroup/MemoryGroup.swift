import Foundation
import PressureKit

/// A directory of the memory controller: what one cgroup may use, uses, and has suffered.
///
/// Read by the tool itself: the witness for what the library says.
struct MemoryGroup: Hashable, Sendable {
    /// Which files a cgroup has.
    enum Version: Int, Hashable, Sendable {
        case v1 = 1
        case v2
    }

    let directory: String
    let version: Version

    /// The cgroup that this process is in, and those above it, as far as they can be seen; the last one is where the
    /// hierarchy is mounted. Version 1 goes first: where its memory controller is mounted, it is the one that counts.
    static func ancestry() -> [MemoryGroup] {
        let legacy = layout().memory.map { MemoryGroup(directory: $0, version: .v1) }
        return legacy.isEmpty ? unified() : legacy
    }

    /// The cgroups of version 2 that this process is in, whether or not memory is limited there.
    static func unified() -> [MemoryGroup] { layout().unified.map { MemoryGroup(directory: $0, version: .v2) } }

    private static func layout() -> CgroupLayout {
        guard let mounts = KernelText.read("/proc/self/mountinfo"), let groups = KernelText.read("/proc/self/cgroup")
        else { return CgroupLayout() }
        return CgroupLayout(CgroupMembership(parsing: groups.utf8), mounts: CgroupMount.parse(mounts.utf8)) {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    // MARK: Reading

    /// The bytes it may use; `nil` for no limit.
    var limit: ByteCount? { number(version == .v1 ? "memory.limit_in_bytes" : "memory.max") }

    /// The bytes it uses, page cache included.
    var usage: ByteCount? { number(version == .v1 ? "memory.usage_in_bytes" : "memory.current") }

    /// The most it ever used.
    var peak: ByteCount? { number(version == .v1 ? "memory.max_usage_in_bytes" : "memory.peak") }

    /// How often it ran into its limit.
    var hits: Int? {
        guard version == .v1 else { return field("max", of: "memory.events") }
        guard let hits = number("memory.failcnt")?.bytes else { return nil }
        // Of two equal limits, memory's and memory's with swap, the second one is run into first.
        return hits + (number("memory.memsw.failcnt")?.bytes ?? 0)
    }

    /// How many of its processes the kernel has killed for memory.
    var kills: Int? { field("oom_kill", of: version == .v1 ? "memory.oom_control" : "memory.events") }

    /// What is free, or can be had without writing anything: as kubelet counts, inactive page cache is free.
    var available: ByteCount? {
        guard let limit, let usage else { return nil }
        let cache = field(version == .v1 ? "total_inactive_file" : "inactive_file", of: "memory.stat") ?? 0
        return max(.zero, limit - max(.zero, usage - .bytes(cache)))
    }

    /// A line `name 1234` of a file.
    func field(_ name: String, of file: String) -> Int? {
        fields(of: file)[name]
    }

    /// All lines `name 1234` of a file.
    func fields(of file: String) -> [String: Int] {
        var fields: [String: Int] = [:]
        for line in (KernelText.read("\(directory)/\(file)") ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let number = Int(words[1]) { fields[String(words[0])] = number }
        }
        return fields
    }

    /// A file that holds one number. "max", and version 1's number near 2^63, are none.
    private func number(_ file: String) -> ByteCount? {
        guard let text = KernelText.read("\(directory)/\(file)"),
            let number = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), number < 1 << 60
        else { return nil }
        return .bytes(number)
    }

    // MARK: Writing

    /// Sets the limit, for memory and for memory with swap, so that nothing is swapped out.
    ///
    /// - Throws: what the kernel says.
    func setLimit(_ limit: ByteCount) throws {
        try write("\(limit.bytes)", to: version == .v1 ? "memory.limit_in_bytes" : "memory.max")
        // Kernels without swap accounting have no such file, and then there is no swap to forbid.
        switch version {
        case .v1: try? write("\(limit.bytes)", to: "memory.memsw.limit_in_bytes")
        case .v2: try? write("0", to: "memory.swap.max")
        }
    }

    /// Moves a process into the cgroup. What it has used until then stays where it was counted.
    ///
    /// - Throws: what the kernel says.
    func add(process: Int32) throws { try write("\(process)", to: "cgroup.procs") }

    /// The processes in it.
    var processes: [Int32] {
        (KernelText.read("\(directory)/cgroup.procs") ?? "").split(separator: "\n")
            .compactMap { Int32($0) }
            // 0 is one of another namespace, and for kill(2) the caller's own group.
            .filter { $0 > 0 }
    }

    /// - Throws: ``KernelRefusal``.
    func write(_ text: String, to file: String) throws(KernelRefusal) {
        try KernelText.write(text, to: "\(directory)/\(file)")
    }
}
