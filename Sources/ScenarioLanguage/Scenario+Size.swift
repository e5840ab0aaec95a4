import PressureSystem

/// What a scenario amounts to, before any of it is made. Numbers that counts within counts can let grow beyond all
/// bounds are floating, so that nothing overflows before it is refused.
struct ScenarioSize: Sendable {
    /// More of them take longer to make than anybody wants to wait.
    static let mostControllers = 100_000.0
    static let mostValues = 1_000_000.0
    /// As many bytes as a spill file can hold of a machine's values.
    static let mostBytes = 1_099_511_627_776.0

    private(set) var controllers = 0.0
    private(set) var values = 0.0
    /// Of all values, each as large as it may be.
    private(set) var bytes = 0.0
    /// Of the values that may be in memory at once, were there no pressure: keyed caches keep to their limits. With what
    /// each value takes besides.
    private(set) var residentBytes = 0.0

    /// The library's and the tool's own bytes for a value, in memory or not: 1,000,000 of one byte, by key, take 747 MiB.
    static let overhead = 768.0

    init(_ specs: [ControllerSpec]) { add(specs, times: 1) }

    /// What is too much; `nil` when all of it can be made.
    var excess: (found: String, allowed: String)? {
        if controllers > Self.mostControllers {
            return ("\(Int(controllers)) controllers in all", "at most 100,000 controllers")
        }
        if values > Self.mostValues {
            return ("\(Int(values)) values in all", "at most 1,000,000 values")
        }
        if bytes > Self.mostBytes {
            return ("values of \(Int((bytes / 1_073_741_824).rounded())) GiB in all", "at most 1,024 GiB of values")
        }
        return nil
    }

    private mutating func add(_ specs: [ControllerSpec], times: Double) {
        for spec in specs {
            // Saturates far beyond what is allowed, where digits are of no use.
            let times = min(times * Double(spec.count), 1e15)
            controllers += times
            for cache in spec.caches {
                let count = times * Double(cache.count)
                let keys = Double(cache.keyed?.keys ?? 1)
                let size = Double(cache.size.upperBound.bytes)
                values = min(values + count * keys, 1e15)
                bytes += count * keys * size
                let kept = cache.keyed?.limit.map { Double($0.bytes) + size } ?? .infinity
                residentBytes += count * (min(keys * cache.storage.heldBytes(size), kept) + keys * Self.overhead)
            }
            add(spec.children, times: times)
            add(spec.presents, times: times)
        }
    }
}

extension Scenario {
    /// How many values the scenario holds.
    package var valueCount: Int { Int(ScenarioSize(controllers).values) }

    /// The most bytes it may hold in memory: in a cgroup never more than its limit.
    package var largestByteCount: Int {
        min(Int(ScenarioSize(controllers).residentBytes), memory.cgroupLimit?.bytes ?? .max)
    }
}
