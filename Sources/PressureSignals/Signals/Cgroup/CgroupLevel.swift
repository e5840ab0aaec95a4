import PressureSystem

/// One cgroup's files.
protocol CgroupLevel: AnyObject, Sendable {
    /// Its directory.
    var directory: String { get }

    /// What it uses and may use. Allocates nothing.
    ///
    /// - Returns: `nil` when a file cannot be read, as when the cgroup is gone.
    func usage() -> CgroupUsage?
}

/// A cgroup of version 2: `memory.current`, `memory.max`, `memory.high` and `memory.stat`.
final class UnifiedLevel: CgroupLevel {
    let directory: String
    private let current: ProcFile
    private let max: ProcFile
    private let high: ProcFile?
    private let stat: ProcFile

    /// Opens the files.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` where the memory controller is not enabled, and at the
    ///   root of the tree, which has no limits.
    init(directory: String) throws(PressureError) {
        self.directory = directory
        current = try ProcFile(path: directory + "/memory.current")
        max = try ProcFile(path: directory + "/memory.max")
        stat = try ProcFile(path: directory + "/memory.stat")
        high = try? ProcFile(path: directory + "/memory.high")
    }

    func usage() -> CgroupUsage? {
        guard let used = current.read({ $0.decimal(in: 0..<$0.count)?.value }) else { return nil }
        // Above `high` tasks are not killed but slowed down, which is as bad.
        let limits = (max.read(CgroupUsage.limit), high?.read(CgroupUsage.limit))
        let limit = limits.0.map { min($0, limits.1 ?? $0) } ?? limits.1
        guard let limit else { return CgroupUsage(used: .bytes(used), reclaimable: .zero, limit: nil) }
        return stat.read { stat in
            CgroupUsage(
                used: used,
                inactiveFile: stat.number(keyed: "inactive_file") ?? 0,
                activeFile: stat.number(keyed: "active_file") ?? 0,
                unwritten: (stat.number(keyed: "file_dirty") ?? 0) + (stat.number(keyed: "file_writeback") ?? 0),
                limit: limit
            )
        }
    }
}

/// A cgroup of version 1: `memory.usage_in_bytes`, `memory.limit_in_bytes` and `memory.stat`. The limit of memory and
/// swap together (memsw) is no limit of memory and is not looked at.
final class LegacyLevel: CgroupLevel {
    let directory: String
    private let usageFile: ProcFile
    private let limit: ProcFile
    private let stat: ProcFile

    /// Opens the files.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when one does not exist or may not be read.
    init(directory: String) throws(PressureError) {
        self.directory = directory
        usageFile = try ProcFile(path: directory + "/memory.usage_in_bytes")
        limit = try ProcFile(path: directory + "/memory.limit_in_bytes")
        stat = try ProcFile(path: directory + "/memory.stat")
    }

    func usage() -> CgroupUsage? {
        guard let used = usageFile.read({ $0.decimal(in: 0..<$0.count)?.value }) else { return nil }
        return stat.read { stat in
            // The kernel tells the least limit of all cgroups above as well, visible or not.
            let above = stat.number(keyed: "hierarchical_memory_limit").flatMap { number in
                number <= Headroom.largestLimit.bytes ? ByteCount(bytes: max(1, number)) : nil
            }
            let own = limit.read(CgroupUsage.limit)
            let least = own.map { min($0, above ?? $0) } ?? above
            return CgroupUsage(
                used: used,
                inactiveFile: stat.number(keyed: "total_inactive_file") ?? stat.number(keyed: "inactive_file") ?? 0,
                activeFile: stat.number(keyed: "total_active_file") ?? stat.number(keyed: "active_file") ?? 0,
                unwritten: (stat.number(keyed: "total_dirty") ?? stat.number(keyed: "dirty") ?? 0)
                    + (stat.number(keyed: "total_writeback") ?? stat.number(keyed: "writeback") ?? 0),
                limit: least
            )
        }
    }
}
