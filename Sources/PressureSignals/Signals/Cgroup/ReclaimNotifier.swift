import CLinuxShims
import Glibc
import PressureSystem

/// Notifies when a cgroup's limit makes the kernel take page cache away. Not safe from several threads at once.
///
/// Where page cache fills a cgroup up to its limit, usage does not move any more, and no mark on usage can tell. But nobody
/// gets a page then without another being taken: a cgroup whose cache alone is more than warning begins with cannot come
/// to it in silence. Version 2 counts that in `memory.events`, version 1 in `memory.pressure_level`.
struct ReclaimNotifier {
    /// After a notification it is not listened to for this long: a stream of files would notify all the time.
    private static let pause = Duration.seconds(2)

    private let file: ProcFile?
    /// Of version 1 only.
    private let directory: String?
    private var eventfd: CInt = -1
    private var isRefused = false
    private var rangAt: MonotonicInstant?
    private var hasFired = false
    /// A notification will be heard.
    private(set) var isArmed = false

    /// For a cgroup of version 2.
    init?(unified directory: String) {
        let names = ["/memory.events.local", "/memory.events"]
        guard let file = names.lazy.compactMap({ try? ProcFile(path: directory + $0) }).first else { return nil }
        self.file = file
        self.directory = nil
    }

    /// For a cgroup of version 1.
    init(legacy directory: String) {
        file = nil
        self.directory = directory
    }

    /// Whether nothing can happen to this cgroup in silence, once it is armed. Pure.
    static func isSafe(_ usage: CgroupUsage, thresholds: PressureThresholds) -> Bool {
        guard let headroom = usage.headroom else { return false }
        let bands = thresholds.bytes(of: headroom.limit)
        return headroom.available > bands.warningEnter && usage.reclaimable >= bands.warningEnter
    }

    /// Listens, if it is time to. Allocates only when it is the first.
    mutating func arm(at now: MonotonicInstant, watch: (_ descriptor: CInt, EventLoop.Interest) -> Bool) {
        if hasFired {
            hasFired = false
            rangAt = now
        }
        guard !isArmed, !isRefused, rangAt.map({ now - $0 >= Self.pause }) ?? true else { return }
        if let file {
            // Reading is what makes it notify of the next event, and not of the last.
            _ = file.read { _ in true }
            isArmed = watch(file.descriptor, .urgent)
        } else {
            guard register() else { return }
            _ = pk_eventfd_drain(eventfd)
            isArmed = watch(eventfd, .readable)
        }
        isRefused = !isArmed
    }

    /// It has notified: is not listened to for a while.
    mutating func noteRing(unwatch: (CInt) -> Void) {
        takeDown(unwatch: unwatch)
        hasFired = true
    }

    /// Listens no longer.
    mutating func takeDown(unwatch: (CInt) -> Void) {
        guard isArmed else { return }
        unwatch(file?.descriptor ?? eventfd)
        isArmed = false
    }

    /// Listens no longer, and gives the descriptor back.
    mutating func disarm(unwatch: (CInt) -> Void) {
        takeDown(unwatch: unwatch)
        if eventfd >= 0 { close(eventfd) }
        eventfd = -1
    }

    /// Has the kernel signal an eventfd at any reclaim in a cgroup of version 1; once.
    private mutating func register() -> Bool {
        guard eventfd < 0, let directory else { return eventfd >= 0 }
        isRefused = true
        let level = unsafe pk_open_wait(directory + "/memory.pressure_level")  // the string outlives the call
        guard level >= 0 else { return false }
        defer { close(level) }
        let control = unsafe pk_open_write(directory + "/cgroup.event_control")  // as above
        guard control >= 0 else { return false }
        defer { close(control) }
        let descriptor = pk_eventfd()
        guard descriptor >= 0 else { return false }
        let command = Array("\(descriptor) \(level) low".utf8)
        // The bytes are read during the call only.
        let written = unsafe command.withUnsafeBytes { unsafe pk_write_bytes(control, $0.baseAddress, $0.count) }
        guard written == command.count else {
            close(descriptor)
            return false
        }
        eventfd = descriptor
        isRefused = false
        return true
    }
}
