public import PressureSystem

/// Why the level changed or memory was reclaimed: the signal, its raw numbers, the threshold it crossed, and how old
/// the sample was.
///
/// Every warning and every ``EvictionReport`` carries one, so that a log line answers "why now?" without guessing.
public struct PressureCause: Hashable, Sendable {
    /// What spoke.
    public enum Origin: String, Sendable, CaseIterable {
        /// `MemAvailable` of `/proc/meminfo`.
        case memoryInfo = "meminfo"
        /// A cgroup's limit against its usage.
        case cgroup
        /// Pressure stall information: how long tasks waited for memory.
        case stall = "psi"
        /// How often a cgroup met its limits: `memory.events`.
        case events = "memory.events"
        /// What the service manager watches for the process: `MEMORY_PRESSURE_WATCH`.
        case service = "systemd"
        /// The process's own memory against a limit that the app has set.
        case footprint
        /// `simulateMemoryWarning`, or a simulated source.
        case simulated
        /// `enterBackground`.
        case background
        /// A request for bytes by the app.
        case request
    }

    /// Raw numbers of signals that do not measure bytes.
    public enum Evidence: Hashable, Sendable {
        /// Tasks waited for memory: so long, in a time of `within`, when `threshold` was enough.
        case stalled(Duration, within: Duration, threshold: Duration)
        /// A cgroup met its limits so often since the sample before.
        case events(high: Int, max: Int, oom: Int)
        /// At the rate at which the memory falls it is gone in this time, sooner than a reclaim takes.
        case exhaustion(in: Duration)
    }

    /// What spoke.
    public var origin: Origin
    /// Where it was read: a path such as `"/proc/meminfo"`, or the caller's word for a simulated warning.
    public var source: String
    /// Bytes available when the sample was taken; `nil` when the origin does not measure bytes.
    public var available: ByteCount?
    /// What the process's own caches could give back at once beside that; the level goes by the sum. Zero without caches.
    public var reclaimable: ByteCount
    /// The bytes `available` is a part of: the host's memory or the binding limit.
    public var limit: ByteCount?
    /// The bytes, available and reclaimable, at which the level changes; the crossing of this made the event.
    public var threshold: ByteCount?
    /// The numbers of a signal that does not measure bytes, or of a trend; `nil` when the bytes say it all.
    public var evidence: Evidence?
    /// The time between taking the sample and deciding on it.
    public var sampleAge: Duration
    /// The level before this event.
    public var levelBefore: PressureLevel
    /// The level after it.
    public var levelAfter: PressureLevel

    /// Creates a cause.
    public init(
        origin: Origin,
        source: String,
        available: ByteCount? = nil,
        reclaimable: ByteCount = .zero,
        limit: ByteCount? = nil,
        threshold: ByteCount? = nil,
        evidence: Evidence? = nil,
        sampleAge: Duration = .zero,
        levelBefore: PressureLevel,
        levelAfter: PressureLevel
    ) {
        self.origin = origin
        self.source = source
        self.available = available
        self.reclaimable = reclaimable
        self.limit = limit
        self.threshold = threshold
        self.evidence = evidence
        self.sampleAge = sampleAge
        self.levelBefore = levelBefore
        self.levelAfter = levelAfter
    }
}

extension PressureCause: CustomStringConvertible {
    /// One line: `"normal → warning: meminfo (/proc/meminfo) 1.2 GiB of 8.0 GiB available, threshold 1.6 GiB, 0 ms old"`.
    public var description: String {
        var text = "\(levelBefore) → \(levelAfter): \(origin.rawValue) (\(source))"
        if let available {
            text += " \(available)"
            if let limit { text += " of \(limit)" }
            text += " available"
            if reclaimable > .zero { text += " and \(reclaimable) reclaimable" }
        }
        if let threshold { text += ", threshold \(threshold)" }
        if let evidence { text += " \(evidence)" }
        if available != nil || evidence != nil { text += ", \(sampleAge.nanoseconds / 1_000_000) ms old" }
        return text
    }
}

extension PressureCause.Evidence: CustomStringConvertible {
    /// `"stalled 210 ms in 2000 ms, threshold 150 ms"`, `"high +3, max +0, oom +0"` or `"gone in 80 ms"`.
    public var description: String {
        switch self {
        case .stalled(let time, let span, let threshold):
            "stalled \(time.milliseconds) ms in \(span.milliseconds) ms, threshold \(threshold.milliseconds) ms"
        case .events(let high, let max, let oom): "high +\(high), max +\(max), oom +\(oom)"
        case .exhaustion(let time): "gone in \(time.milliseconds) ms"
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
