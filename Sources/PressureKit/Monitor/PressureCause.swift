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
        /// Pressure stall information.
        case stall = "psi"
        /// `simulateMemoryWarning`, or a simulated source.
        case simulated
        /// `enterBackground`.
        case background
        /// A request for bytes by the app.
        case request
    }

    /// What spoke.
    public var origin: Origin
    /// Where it was read: a path such as `"/proc/meminfo"`, or the caller's word for a simulated warning.
    public var source: String
    /// Bytes available when the sample was taken; `nil` when the origin does not measure bytes.
    public var available: ByteCount?
    /// The bytes `available` is a part of: the host's memory or the binding limit.
    public var limit: ByteCount?
    /// The available bytes at which the level changes; the crossing of this made the event.
    public var threshold: ByteCount?
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
        limit: ByteCount? = nil,
        threshold: ByteCount? = nil,
        sampleAge: Duration = .zero,
        levelBefore: PressureLevel,
        levelAfter: PressureLevel
    ) {
        self.origin = origin
        self.source = source
        self.available = available
        self.limit = limit
        self.threshold = threshold
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
        }
        if let threshold { text += ", threshold \(threshold)" }
        if available != nil { text += ", \(sampleAge.nanoseconds / 1_000_000) ms old" }
        return text
    }
}
