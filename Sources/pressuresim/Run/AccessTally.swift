/// What one thread saw while it accessed values; tallies of several threads add up.
struct AccessTally: Sendable {
    /// Where accesses are counted as they happen, for those who watch.
    var live: LiveCounts?
    /// By outcome.
    var latencies: [AccessOutcome: Latencies] = [:]
    /// Of those that restored, by the size of the value.
    var restoresBySize = LatencyClasses()
    /// Of those that loaded, the ones of values that had been there before: an eviction is to blame.
    var reloads = Latencies()
    /// Plain bytes of the values that were restored.
    var restoredBytes = 0
    /// Accesses that threw what the scenario's own loaders threw on purpose.
    var loaderFailures = 0
    /// Accesses that threw anything else.
    var failures = 0
    /// What the first few of those said.
    var complaints: [String] = []
    /// Values whose bytes were wrong, or gone for good.
    var losses: [Loss] = []
    /// Values compared with their source.
    var verified = 0

    /// A value that did not come back as it was.
    struct Loss: Hashable, Sendable {
        var path: String
        /// What was wrong with it.
        var reason: String
    }

    private static let complaintLimit = 4

    /// - Parameter live: where accesses are counted as they happen; `nil` for nowhere.
    init(live: LiveCounts? = nil) { self.live = live }

    /// Counts an access that failed.
    mutating func fail(_ path: String, _ error: any Error) {
        failures += 1
        if complaints.count < Self.complaintLimit { complaints.append("\(path): \(error.words)") }
    }

    /// Counts an access that gave a value of so many bytes.
    mutating func record(_ outcome: AccessOutcome, nanoseconds: Int64, bytes: Int) {
        latencies[outcome, default: Latencies()].record(nanoseconds: nanoseconds)
        live?.note(outcome)
        guard outcome == .restore else { return }
        restoredBytes += bytes
        restoresBySize.record(nanoseconds: nanoseconds, byteCount: bytes)
    }

    /// Adds what another thread saw.
    mutating func add(_ other: AccessTally) {
        for (outcome, latencies) in other.latencies { self.latencies[outcome, default: Latencies()].add(latencies) }
        restoresBySize.add(other.restoresBySize)
        reloads.add(other.reloads)
        restoredBytes += other.restoredBytes
        loaderFailures += other.loaderFailures
        failures += other.failures
        complaints = Array((complaints + other.complaints).prefix(Self.complaintLimit))
        losses += other.losses
        verified += other.verified
    }

    /// All accesses that gave a value.
    var count: Int { latencies.values.reduce(0) { $0 + $1.count } }
}
