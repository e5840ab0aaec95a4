/// How a disk behaves: how long it takes, and what it refuses. A scenario may change it from one step to the next.
struct DiskCondition: Hashable, Sendable {
    /// Bytes a second that are read and written at most; `nil` for as fast as it goes.
    var readRate: Double?
    var writeRate: Double?
    /// What each request takes before its first byte.
    var latency = Duration.zero
    /// Whether nothing can be written for want of space (ENOSPC). What is there can be read.
    var isFull = false
    /// The part of all writes that fail (EIO), 0 … 1.
    var failingWrites = 0.0
    /// The part of all places in the file that cannot be read (EIO), 0 … 1: a place that is bad stays bad.
    var failingReads = 0.0

    /// As fast as it goes, and whole.
    static let asItIs = DiskCondition()

    /// The disk of virtual time: about what a general-purpose cloud volume gives at its price (AWS gp3: 125 MiB/s), with
    /// 200 µs to the first byte.
    static let imagined = DiskCondition(readRate: 125e6, writeRate: 125e6, latency: .microseconds(200))

    /// The same disk, no faster than so many bytes a second.
    func slowed(to rate: Double) -> DiskCondition {
        var slow = self
        slow.readRate = min(readRate ?? rate, rate)
        slow.writeRate = min(writeRate ?? rate, rate)
        return slow
    }

    /// How long a request of so many bytes takes; zero for as long as it really takes.
    func duration(reading byteCount: Int) -> Duration { duration(byteCount, readRate) }

    /// The same for one that writes.
    func duration(writing byteCount: Int) -> Duration { duration(byteCount, writeRate) }

    private func duration(_ byteCount: Int, _ rate: Double?) -> Duration {
        guard let rate, rate > 0 else { return latency }
        return latency + .nanoseconds(Int64((Double(byteCount) / rate * 1e9).rounded(.up)))
    }
}
