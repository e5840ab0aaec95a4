/// What the kernel says of how busy the machine is. Counters that it does not keep are `nil`.
package struct BusyReading: Hashable, Sendable {
    /// When it was taken.
    package var time: MonotonicInstant
    /// Threads that run or want to, the reader's own included.
    package var runnable: Int?
    /// Microseconds in which some thread waited for a processor, ever (PSI `cpu`, `some`).
    package var processorStall: Int?
    /// Microseconds in which some thread waited for a device, ever (PSI `io`, `some`).
    package var deviceStall: Int?

    /// Creates a reading.
    package init(
        time: MonotonicInstant,
        runnable: Int? = nil,
        processorStall: Int? = nil,
        deviceStall: Int? = nil
    ) {
        self.time = time
        self.runnable = runnable
        self.processorStall = processorStall
        self.deviceStall = deviceStall
    }
}

/// Whether the machine has time to spare for work that nobody waits for. Pure.
///
/// A processor must be free now, and between two readings nobody may have waited for a processor or a device for more
/// than a tenth of the time. The first reading only begins the count.
package struct CalmGate: Sendable {
    /// The part of the time for which others may wait: PSI's own averages call 10 % a noticeable stall, and lmkd acts
    /// between 7 and 20 %.
    package static let patience = 0.1
    /// Readings closer together than this say nothing: the kernel brings its counters up to date now and then.
    package static let shortest = Duration.milliseconds(20)

    private let cores: Int
    private var last: BusyReading?
    private var wasCalm = false

    /// A gate for a machine with so many processors.
    package init(cores: Int) { self.cores = max(1, cores) }

    /// Whether to work on, judging by this reading and the one before.
    package mutating func allows(_ reading: BusyReading) -> Bool {
        if let runnable = reading.runnable, runnable > cores {
            last = reading
            wasCalm = false
            return false
        }
        guard let last else {
            last = reading
            return false
        }
        let interval = reading.time - last.time
        guard interval >= Self.shortest else { return wasCalm }
        let most = Double(interval.nanoseconds) / 1000 * Self.patience
        wasCalm =
            Self.grew(last.processorStall, reading.processorStall) <= most
            && Self.grew(last.deviceStall, reading.deviceStall) <= most
        self.last = reading
        return wasCalm
    }

    /// What was read before is forgotten: much may have happened since.
    package mutating func reset() {
        last = nil
        wasCalm = false
    }

    private static func grew(_ before: Int?, _ after: Int?) -> Double {
        guard let before, let after, after > before else { return 0 }
        return Double(after - before)
    }
}
