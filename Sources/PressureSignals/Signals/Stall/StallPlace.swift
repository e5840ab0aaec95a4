import Glibc
import PressureSystem
import SystemPackage

/// One file of pressure stall information: its totals, and its triggers when they can be armed. Not safe from several
/// threads at once.
struct StallPlace {
    /// The file.
    let path: String
    /// Whose waiting it tells of.
    let scope: StallReading.Scope

    private let totals: ProcFile
    private(set) var triggers: [StallTrigger] = []
    /// Fires on the way to the others.
    private var earlyTrigger: StallTrigger?
    /// Why there is no trigger.
    private(set) var refusal: Errno?
    /// A trigger has notified since the last reading.
    private var hasFired = false
    private var hasFiredEarly = false
    /// A trigger has notified, and tasks had waited.
    private(set) var isVerified = false
    private var someAtLastRing = 0

    /// Opens the file.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable`; its `errno` is EOPNOTSUPP where the kernel could count but
    ///   does not.
    init(path: String, scope: StallReading.Scope) throws(PressureError) {
        self.path = path
        self.scope = scope
        totals = try ProcFile(path: path)
        guard let first = totals.read(StallTotals.parse) else {
            throw .stallsNotCounted(path: path, errno: totals.fault())
        }
        someAtLastRing = first.some
    }

    /// What the file says now; `nil` when it is gone. Allocates nothing.
    mutating func reading() -> StallReading? {
        guard let now = totals.read(StallTotals.parse) else { return nil }
        if hasFired {
            isVerified = isVerified || now.some > someAtLastRing
            someAtLastRing = now.some
        }
        defer { (hasFired, hasFiredEarly) = (false, false) }
        return StallReading(
            totals: now,
            scope: scope,
            isArmed: !triggers.isEmpty,
            hasFired: hasFired,
            hasFiredEarly: hasFiredEarly
        )
    }

    /// Arms a trigger for each level, and an early one.
    ///
    /// The kernel looks at the triggers of those without privileges once in two seconds. What begins after one look and
    /// crosses before the next is seen there; what crosses slowly would be seen up to two seconds late. The early one fires at a
    /// quarter of the way, and from then on the monitor looks for itself.
    ///
    /// - Parameters:
    ///   - watch: Has a descriptor watched, the early one's or not; `false` when that cannot be.
    mutating func arm(_ thresholds: StallThresholds, watch: (_ descriptor: CInt, _ isEarly: Bool) -> Bool) {
        guard triggers.isEmpty else { return }
        do throws(Errno) {
            for (line, waiting) in [(StallTrigger.Line.some, thresholds.warning), (.full, thresholds.critical)] {
                triggers.append(try arm(line, waiting, thresholds) { watch($0, false) })
            }
            refusal = nil
        } catch {
            // One of two is better than none.
            refusal = triggers.isEmpty ? error : nil
        }
        // Without it, all works but a little later.
        if !triggers.isEmpty { earlyTrigger = try? arm(.some, thresholds.warning / 4, thresholds) { watch($0, true) } }
    }

    private func arm(
        _ line: StallTrigger.Line,
        _ waiting: Duration,
        _ thresholds: StallThresholds,
        watch: (CInt) -> Bool
    ) throws(Errno) -> StallTrigger {
        let trigger = try StallTrigger(path: path, line: line, waiting: waiting, window: thresholds.window)
        guard watch(trigger.descriptor) else {
            let failure = Errno(rawValue: errno)
            trigger.close()
            throw failure
        }
        return trigger
    }

    /// Ends the triggers.
    mutating func disarm(unwatch: (CInt) -> Void) {
        for trigger in triggers + (earlyTrigger.map { [$0] } ?? []) {
            unwatch(trigger.descriptor)
            trigger.close()
        }
        triggers = []
        earlyTrigger = nil
    }

    /// A trigger has notified, or only the early one.
    mutating func noteRing(early isEarly: Bool) {
        if isEarly { hasFiredEarly = true } else { hasFired = true }
    }

    /// Whether the place works, and how well.
    var status: SignalStatus {
        var status = SignalStatus(origin: .stall, source: path, state: .available, detail: "")
        if let trigger = triggers.first {
            status.state = isVerified ? .verified : .armed
            let seconds = Double(trigger.window.nanoseconds) / 1e9
            status.detail =
                "The kernel notifies when tasks have waited long enough in \(seconds) s (\(Self.whose(scope)))."
        } else if let refusal {
            status.detail = "Read with each sample; no trigger: \(refusal) (\(Self.whose(scope)))."
            status.remedy = Self.remedy(refusal, path: path)
        } else {
            status.detail = "Read with each sample; triggers are armed while a manager runs (\(Self.whose(scope)))."
        }
        return status
    }

    private static func whose(_ scope: StallReading.Scope) -> String {
        switch scope {
        case .own: "the process's own cgroup"
        case .above: "a cgroup above the process's; counts when memory is not plentiful"
        case .host: "the whole machine; counts when memory is not plentiful"
        }
    }

    private static func remedy(_ refusal: Errno, path: String) -> String? {
        switch refusal {
        case .permissionDenied, .notPermitted, .readOnlyFileSystem:
            """
            Let the process write \(path): run it as a systemd service with MemoryPressureWatch=on, or mount the cgroup \
            file system writable.
            """
        case .invalidArgument: "The kernel accepts no window of up to 10 s; Linux 6.6 or CAP_SYS_RESOURCE is needed."
        default: nil
        }
    }
}

extension PressureError {
    /// The file exists, but nothing is in it.
    static func stallsNotCounted(path: String, errno: CInt) -> PressureError {
        let isOff = Errno(rawValue: errno) == .notSupportedOnSocket
        return PressureError(
            code: .signalUnavailable,
            message: isOff
                ? "\(path) is there, but the kernel does not count stalls. Boot with psi=1 on its command line."
                : "\(path) says nothing about stalls. If a file is mounted over it, remove that.",
            errno: errno
        )
    }
}
