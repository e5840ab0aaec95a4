import Glibc
import PressureSystem

/// Finds the process's cgroups, and notices when it has been moved to others. Not safe from several threads at once.
package struct CgroupLocator: Sendable {
    /// A move is noticed this late at most; it is rare, and done to a process by its service manager or container engine.
    package static let patience = Duration.seconds(5)

    private let context: SignalContext
    private let controller: String
    private let file: ProcFile
    private var fingerprint: UInt64?
    private var lookedAt: MonotonicInstant?

    /// Opens /proc/self/cgroup.
    ///
    /// - Parameter controller: the one of version 1 whose directories are told as those of memory.
    /// - Throws: ``PressureError`` with code `signalUnavailable` when it cannot be opened.
    init(context: SignalContext, controller: String = "memory") throws(PressureError) {
        self.context = context
        self.controller = controller
        file = try ProcFile(path: context.path("/proc/self/cgroup"))
    }

    /// The directories, when they may be others than at the last call. Allocates nothing unless they are.
    ///
    /// - Parameter isLost: A directory is known to be gone: look at once.
    mutating func changedLayout(isLost: Bool, at now: MonotonicInstant) -> CgroupLayout? {
        if let lookedAt, now - lookedAt < (isLost ? .seconds(1) : Self.patience) { return nil }
        lookedAt = now
        let print = file.fingerprint()
        guard isLost || fingerprint == nil || print != fingerprint else { return nil }
        fingerprint = print
        return layout()
    }

    private func layout() -> CgroupLayout {
        guard let membership = file.readAll(),
            let mountinfo = (try? ProcFile(path: context.path("/proc/self/mountinfo")))?.readAll()
        else { return CgroupLayout() }
        let mounts = CgroupMount.parse(mountinfo, controller: controller)
        let layout = CgroupLayout(CgroupMembership(parsing: membership, controller: controller), mounts: mounts) {
            directory in
            unsafe access(context.path(directory), F_OK) == 0  // the string outlives the call
        }
        return CgroupLayout(
            unified: layout.unified.map(context.path),
            memory: layout.memory.map(context.path)
        )
    }
}
