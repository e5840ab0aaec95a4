import CLinuxShims
import Glibc
import PressureSystem

/// Has the kernel notify at given usages of a cgroup of version 1: an eventfd that `cgroup.event_control` is told of.
///
/// The kernel forgets a mark only when its eventfd is closed, so that other marks mean another eventfd. Not safe from
/// several threads at once.
struct UsageNotifier {
    private let directory: String
    /// What is asked for now.
    private(set) var marks = UsageMarks.none
    /// The eventfd; -1 when nothing is asked for.
    private(set) var descriptor: CInt = -1
    /// Why the kernel refused; it is not asked again.
    private(set) var refusal: CInt?
    private var armedAt: MonotonicInstant?
    /// The limit the marks are for.
    private var limit: ByteCount?

    /// The kernel waits for all processors before it takes a mark: 15 to 70 ms in which the monitor sees nothing (measured,
    /// Linux 6.18). So it is asked once for each limit as a rule, and no more often than this.
    private static let rest = Duration.seconds(1)

    init(directory: String) { self.directory = directory }

    /// Changes the marks. Does nothing when those that are wanted are armed already, perhaps beside others, when they were changed
    /// a moment ago for the same limit, or the kernel has refused before.
    ///
    /// - Returns: Whether there is another descriptor to watch now, or none.
    mutating func arm(
        _ wanted: UsageMarks,
        of limit: ByteCount?,
        on loop: EventLoop?,
        at now: MonotonicInstant
    ) -> Bool {
        let isSame =
            isArmed(wanted.warning, marks.warning) && isArmed(wanted.critical, marks.critical)
            && isArmed(wanted.full, marks.full)
        guard refusal == nil, !isSame else {
            marks.isSafe = wanted.isSafe && descriptor >= 0
            return false
        }
        if let armedAt, now - armedAt < Self.rest, limit == self.limit {
            marks.isSafe = false
            return false
        }
        (armedAt, self.limit) = (now, limit)
        disarm(from: loop)
        guard wanted.warning != nil || wanted.critical != nil || wanted.full != nil else { return true }
        if let failure = register(at: [wanted.warning, wanted.critical, wanted.full]) {
            refusal = failure
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
            return true
        }
        marks = wanted
        return true
    }

    /// Whether a mark that is wanted, if one is, is armed.
    private func isArmed(_ wanted: ByteCount?, _ mark: ByteCount?) -> Bool { wanted == nil || wanted == mark }

    /// Removes the marks.
    mutating func disarm(from loop: EventLoop?) {
        marks = .none
        guard descriptor >= 0 else { return }
        loop?.unwatch(descriptor)
        close(descriptor)
        descriptor = -1
    }

    /// Reads the eventfd empty.
    func drain() { if descriptor >= 0 { _ = pk_eventfd_drain(descriptor) } }

    /// - Returns: An error number, or `nil`.
    private mutating func register(at usages: [ByteCount?]) -> CInt? {
        let usage = unsafe pk_open_wait(directory + "/memory.usage_in_bytes")  // the string outlives the call
        guard usage >= 0 else { return errno }
        defer { close(usage) }
        let control = unsafe pk_open_write(directory + "/cgroup.event_control")  // as above
        guard control >= 0 else { return errno }
        defer { close(control) }
        descriptor = pk_eventfd()
        guard descriptor >= 0 else { return errno }
        for bytes in usages {
            guard let bytes else { continue }
            let command = Array("\(descriptor) \(usage) \(bytes.bytes)".utf8)
            // The bytes are read during the call only.
            let written = unsafe command.withUnsafeBytes { unsafe pk_write_bytes(control, $0.baseAddress, $0.count) }
            guard written == command.count else { return errno }
        }
        return nil
    }
}
