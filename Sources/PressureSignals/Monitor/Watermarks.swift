package import PressureSystem

/// How much of a limit a cache that fills it leaves free, in bytes: the three marks of the kernel's zones.
///
/// Below ``low`` small batches are reclaimed in the background until ``high`` is free again; below ``min`` whoever brings
/// more waits for as much as he brings. (Linux, `mm/page_alloc.c`: below low kswapd is woken, below min allocations
/// reclaim themselves.) So a full cache leaves between `low` and `high` free: some 6 % of a limit of the process's own, and two
/// megabytes.
///
/// On a host without a limit memory is everybody's: the marks lie at the threshold of warning.
package struct Watermarks: Hashable, Sendable {
    /// Readers wait below this.
    package var min: Int
    /// The background reclaim begins below this.
    package var low: Int
    /// The background reclaim ends here.
    package var high: Int

    /// Where the kernel is asked to notify below a limit: a batch is late, or others take what is free.
    ///
    /// Without what is kept free beside: a full cache whose heap has holes leaves the system little more than this, and where usage
    /// has passed a mark it would have to be looked at all the time, also while nobody reads.
    package static func notice(below limit: ByteCount) -> Int { free(of: limit) * 5 / 8 }

    /// The part of a limit that is free when the background reclaim ends.
    static let part = 0.07
    /// However large the limit is, more than this need not be free.
    static let most = 1 << 30
    /// For how long memory that others take must suffice: until the kernel has notified, a sample is taken and a batch is
    /// freed. Measured below a limit of 160 MiB: 3 to 12 ms.
    static let reaction = 0.02
    /// What others are taken to be capable of, in bytes a second, however long they have taken nothing: what a program that fills
    /// memory at an ordinary pace reaches. The first time must be survived too.
    static let leastSurge = 100e6

    /// Marks as they are given.
    package init(min: Int, low: Int, high: Int) {
        self.min = min
        self.low = low
        self.high = high
    }

    /// The marks of a limit.
    ///
    /// - Parameters:
    ///   - limit: Of the process's own, or of its cgroups.
    ///   - surge: The fastest that others have taken memory lately or do now, in bytes a second. What they take in the time of a
    ///     reaction is kept free beside, up to an eighth of the limit.
    ///   - writing: Bytes that a reclaim takes itself, because what leaves has to be written: pages on their way to the
    ///     device. They are kept free beside too.
    package init(limit: ByteCount, surge: Double = 0, writing: Int = 0) {
        let free = Self.free(of: limit)
        let beside = Int(Swift.min(Swift.max(surge, Self.leastSurge) * Self.reaction, Double(limit.bytes) / 8))
        self.init(
            min: free * 9 / 20 + beside * 3 / 4 + writing,
            low: free * 4 / 5 + beside + writing,
            high: free + beside + writing
        )
    }

    private static func free(of limit: ByteCount) -> Int { Swift.min(Int(Double(limit.bytes) * part), most) }

    /// The marks of a host whose memory nobody limits, by its thresholds.
    package init(host bands: ThresholdBytes) {
        let enter = bands.warningEnter.bytes
        let band = bands.warningLeave.bytes - enter
        self.init(min: (enter + bands.criticalEnter.bytes) / 2, low: enter + band / 4, high: enter + band / 2)
    }
}
