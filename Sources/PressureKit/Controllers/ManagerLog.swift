import Logging
import PressureSignals
import PressureSystem

/// All that the library logs, in one place. Nothing is logged on the way to freeing memory: what there is to say of a reclaim
/// is said when it has ended.
///
/// Routine is `debug`; `notice` and `warning` are what an operator must know. A warning that comes again and again is one
/// a minute, and `debug` in between. Every key begins with `pressurekit.`; sizes are in bytes, times in milliseconds.
/// Neither values nor keys of keyed caches are ever logged, and no text of an error, which may be the app's own.
///
/// | message | level | keys |
/// |---|---|---|
/// | `memory pressure rose` | notice | level, level_before, cause |
/// | `memory pressure fell` | debug | level, level_before, cause |
/// | `reclaim finished` | debug | cause, claimed_bytes, returned_bytes, evicted, skipped, failures, duration_ms |
/// | `values could not be spilled` | warning | path, error, errno, failures, held_back |
/// | `a spilled copy could not be used` | warning | path, error, errno, held_back |
/// | `the spill disk failed late` | warning | error, errno, held_back |
/// | `a hook took too long` | warning | path, hook, duration_ms, held_back |
/// | `loaders hold all threads` | warning | path, threads, waiting, held_back |
/// | `nobody runs the manager` | warning | resident_bytes |
/// | `memory cannot be watched` | warning | error, errno |
/// | `control socket opened` | debug | socket |
/// | `control socket unavailable` | warning | error, errno |
/// | `control command` | notice | command, peer_pid, peer_uid |
/// | `control caller refused` | warning | peer_pid, peer_uid, held_back |
/// | `control socket is deaf` | warning | |
final class ManagerLog: Sendable {
    /// What is said again and again if it is true for long.
    struct Throttles {
        var spills = LogThrottle()
        var copies = LogThrottle()
        var writebacks = LogThrottle()
        var hooks = LogThrottle()
        var callers = LogThrottle()
        var loaders = LogThrottle()
    }

    let logger: Logger
    private let clock: any MonotonicClock
    private let throttles = Lock(Throttles())

    init(_ logger: Logger, clock: any MonotonicClock) {
        self.logger = logger
        self.clock = clock
    }

    // MARK: Memory

    /// The level changed, in either direction.
    func changed(_ cause: PressureCause) {
        let rises = cause.levelAfter > cause.levelBefore
        logger.log(
            level: rises ? .notice : .debug,
            rises ? "memory pressure rose" : "memory pressure fell",
            metadata: [
                "pressurekit.level": "\(cause.levelAfter)",
                "pressurekit.level_before": "\(cause.levelBefore)",
                "pressurekit.cause": "\(cause)",
            ]
        )
    }

    /// A reclaim has ended.
    func reclaimed(_ report: EvictionReport) {
        logger.debug(
            "reclaim finished",
            metadata: [
                "pressurekit.cause": "\(report.cause)",
                "pressurekit.claimed_bytes": "\(report.claimed.bytes)",
                "pressurekit.returned_bytes": "\(report.returned.bytes)",
                "pressurekit.evicted": "\(report.evictedCount)",
                "pressurekit.skipped": "\(report.skipped.reduce(0) { $0 + $1.count })",
                "pressurekit.failures": "\(report.failures.count)",
                "pressurekit.duration_ms": "\(report.duration.nanoseconds / 1_000_000)",
            ]
        )
        if let failure = report.failures.first {
            notSpilled(failure, count: report.failures.count)
        }
        if let slow = report.unheard.first { unheard(slow) }
    }

    /// Nobody waits for a hook any longer.
    func unheard(_ slow: UnheardListener) {
        warn(
            "a hook took too long",
            \.hooks,
            [
                "pressurekit.path": "\(slow.path)", "pressurekit.hook": "\(slow.hook)",
                "pressurekit.duration_ms": "\(slow.duration.nanoseconds / 1_000_000)",
            ]
        )
    }

    /// Nothing has been loaded for async readers for seconds. ``PressureManager/loaderThreads`` is where to set how many
    /// threads there are.
    func stuck(at path: String, threads: Int, waiting: Int) {
        warn(
            "loaders hold all threads",
            \.loaders,
            [
                "pressurekit.path": "\(path)", "pressurekit.threads": "\(threads)",
                "pressurekit.waiting": "\(waiting)",
            ]
        )
    }

    /// Values could not be written, the first of them for this reason.
    func notSpilled(_ failure: PressureError, count: Int) {
        var metadata = Self.metadata(of: failure)
        metadata["pressurekit.failures"] = "\(count)"
        warn("values could not be spilled", \.spills, metadata)
    }

    /// A copy could not be read back.
    func lost(_ failure: PressureError) {
        warn("a spilled copy could not be used", \.copies, Self.metadata(of: failure))
    }

    /// The disk failed after it had taken a write, outside a reclaim.
    func failedLate(_ failure: PressureError) {
        warn("the spill disk failed late", \.writebacks, Self.metadata(of: failure))
    }

    // MARK: Watching

    /// The caches hold so many bytes, and ``PressureManager/run()`` was never called.
    func unattended(with resident: Int) {
        logger.warning("nobody runs the manager", metadata: ["pressurekit.resident_bytes": "\(resident)"])
    }

    /// Nobody runs it, and nobody can.
    func notWatching(_ error: PressureError) {
        logger.warning("memory cannot be watched", metadata: Self.metadata(of: error))
    }

    // MARK: Parts

    func warn(
        _ message: Logger.Message,
        _ throttle: any WritableKeyPath<Throttles, LogThrottle> & Sendable,
        _ metadata: Logger.Metadata
    ) {
        let held = throttles.withLock { $0[keyPath: throttle].pass(at: clock.now()) }
        var metadata = metadata
        if let held, held > 0 { metadata["pressurekit.held_back"] = "\(held)" }
        logger.log(level: held == nil ? .debug : .warning, message, metadata: metadata)
    }

    /// Without its text, and without the key that a path may end with.
    static func metadata(of error: PressureError) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["pressurekit.error": "\(error.code)"]
        if let number = error.errno { metadata["pressurekit.errno"] = "\(number)" }
        if let path = error.path {
            metadata["pressurekit.path"] = "\(path.prefix { $0 != "[" })"
        }
        return metadata
    }
}

/// Lets the first of its kind through, and one a minute, or another pause, after that. Pure.
struct LogThrottle: Sendable {
    private let pause: Duration
    private var next: MonotonicInstant?
    private var held = 0

    init(pause: Duration = .seconds(60)) { self.pause = pause }

    /// - Returns: how many were held back before this one; `nil` if this one is to be held back as well.
    mutating func pass(at now: MonotonicInstant) -> Int? {
        if let next, now < next {
            held += 1
            return nil
        }
        defer { held = 0 }
        next = now + pause
        return held
    }
}
