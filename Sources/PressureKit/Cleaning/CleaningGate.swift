import PressureSystem

/// What the kernel says of how busy the processors and devices are that this process may use, in microseconds since some
/// moment. Counters that it does not keep are `nil`.
package struct BusyReading: Hashable, Sendable {
    /// When it was taken.
    package var time: MonotonicInstant
    /// For how long the reader's own thread has run.
    package var ran: Int?
    /// For how long it could have run, and waited for a processor.
    package var waited: Int?
    /// For how long some thread of the process's cgroup waited for a processor (PSI `cpu`, `some`).
    package var processorStall: Int?
    /// For how long some thread waited for a device (PSI `io`, `some`).
    package var deviceStall: Int?

    /// Creates a reading.
    package init(
        time: MonotonicInstant,
        ran: Int? = nil,
        waited: Int? = nil,
        processorStall: Int? = nil,
        deviceStall: Int? = nil
    ) {
        self.time = time
        self.ran = ran
        self.waited = waited
        self.processorStall = processorStall
        self.deviceStall = deviceStall
    }
}

/// Whether there is time to spare for work that nobody waits for. Pure.
///
/// Between two readings nobody of the process's cgroup may have waited for a processor or a device for more than a tenth
/// of the time, and the thread that asks must have got a processor nearly whenever it wanted one: where it waited, so
/// did others, for it. That needs no view of the machine: a container sees its own processors and its own quota in it,
/// and nothing of the host's other tenants, who keep a load average or a run queue of the host high for ever.
///
/// It says nothing while the thread sleeps, so after each time that it was held up the thread sleeps twice as long before
/// it tries again. The first reading only begins the count.
package struct CleaningGate: Sendable {
    /// The part of the time for which others may wait: PSI's own averages call 10 % a noticeable stall, and lmkd acts
    /// between 7 and 20 %.
    package static let patience = 0.1
    /// Readings closer together than this say nothing: the kernel brings its counters up to date now and then.
    package static let shortest = Duration.milliseconds(20)
    /// Microseconds that a thread must have wanted a processor before its waits say anything: a wake-up alone costs some.
    package static let leastWanted = 1000
    /// Between two slices: long enough for the counters to say something.
    package static let shortestPause = Duration.milliseconds(100)
    /// A slice of some 16 ms is tried this often at least, however busy it is.
    package static let longestPause = Duration.seconds(10)

    /// How long to wait before asking again, after a no.
    package private(set) var pause = Self.shortestPause
    private var last: BusyReading?
    private var wasIdle = false

    /// A gate that has seen nothing yet.
    package init() {}

    /// Whether to work on, judging by this reading and the one before.
    package mutating func allows(_ reading: BusyReading) -> Bool {
        guard let last else {
            last = reading
            return false
        }
        let interval = reading.time - last.time
        guard interval >= Self.shortest else { return wasIdle }
        let most = Double(interval.nanoseconds) / 1000 * Self.patience
        let waited = Self.grew(last.waited, reading.waited)
        let wanted = waited + Self.grew(last.ran, reading.ran)
        let isMeasured = wanted >= Double(Self.leastWanted)
        wasIdle =
            !(isMeasured && waited > wanted * Self.patience)
            && Self.grew(last.processorStall, reading.processorStall) <= most
            && Self.grew(last.deviceStall, reading.deviceStall) <= most
        if !wasIdle {
            pause = min(Self.longestPause, pause * 2)
        } else if isMeasured || reading.waited == nil {
            pause = Self.shortestPause
        }
        self.last = reading
        return wasIdle
    }

    /// What was read before is forgotten: much may have happened since.
    package mutating func reset() { self = CleaningGate() }

    private static func grew(_ before: Int?, _ after: Int?) -> Double {
        guard let before, let after, after > before else { return 0 }
        return Double(after - before)
    }
}
