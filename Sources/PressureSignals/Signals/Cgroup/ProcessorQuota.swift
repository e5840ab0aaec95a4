/// The processor time that the process's cgroups may use: `cpu.max` of version 2, `cpu.cfs_quota_us` and
/// `cpu.cfs_period_us` of version 1 (the kernel's Documentation/scheduler/sched-bwc.rst). Limits of all ancestors bind.
///
/// Files are opened once and read each time; a move to another cgroup is not noticed.
package final class ProcessorQuota: Sendable {
    private let unified: [ProcFile]
    private let legacy: [(quota: ProcFile, period: ProcFile)]

    /// Opens the files that there are. Allocates.
    package init(_ context: SignalContext = SignalContext()) {
        unified = (CgroupLayout.current(context)?.unified ?? []).compactMap { try? ProcFile(path: "\($0)/cpu.max") }
        let directories = CgroupLayout.current(context, controller: "cpu")?.memory ?? []
        legacy = directories.compactMap { directory in
            guard let quota = try? ProcFile(path: "\(directory)/cpu.cfs_quota_us"),
                let period = try? ProcFile(path: "\(directory)/cpu.cfs_period_us")
            else { return nil }
            return (quota, period)
        }
    }

    /// The least of all of them, in processors; `nil` for none. A few reads of what the kernel makes on the spot;
    /// allocates nothing.
    package func least() -> Double? {
        var least: Double?
        for index in 0..<unified.count {
            if let quota = unified[index].read({ Self.parse($0) }) { least = min(least ?? quota, quota) }
        }
        for index in 0..<legacy.count {
            // "-1" is no number of digits: no limit.
            guard let quota = legacy[index].quota.read({ $0.decimal(in: 0..<$0.count)?.value }),
                let period = legacy[index].period.read({ $0.decimal(in: 0..<$0.count)?.value }), period > 0
            else { continue }
            least = min(least ?? .infinity, Double(quota) / Double(period))
        }
        return least
    }

    /// Of `"150000 100000"`, 1.5; `nil` of `"max 100000"`.
    static func parse(_ text: borrowing Span<UInt8>) -> Double? {
        guard let quota = text.decimal(in: 0..<text.count),
            let period = text.decimal(in: quota.next..<text.count), period.value > 0
        else { return nil }
        return Double(quota.value) / Double(period.value)
    }
}
