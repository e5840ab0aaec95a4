package import Synchronization

/// What a cache has measured of itself.
package struct CacheStatistics: ~Copyable, Sendable {
    /// How often the loader ran to its end.
    package let loads = Atomic<Int>(0)
    /// How often the value was read back.
    package let restores = Atomic<Int>(0)
    /// How often the value left memory.
    package let evictions = Atomic<Int>(0)
    /// How often a load, spill or restore failed.
    package let failures = Atomic<Int>(0)
    private let averageLoad = Atomic<Int64>(-1)
    private let averageRestore = Atomic<Int64>(-1)

    /// The moving average of the loader's time, if it ran at least once.
    package var loadTime: Duration? { Self.duration(averageLoad.load(ordering: .relaxed)) }

    /// The moving average of the time to read the value back, if that happened at least once.
    package var restoreTime: Duration? { Self.duration(averageRestore.load(ordering: .relaxed)) }

    /// Counts a load.
    package func noteLoad(_ time: Duration) {
        loads.wrappingAdd(1, ordering: .relaxed)
        Self.blend(time, into: averageLoad)
    }

    /// Counts a restore.
    package func noteRestore(_ time: Duration) {
        restores.wrappingAdd(1, ordering: .relaxed)
        Self.blend(time, into: averageRestore)
    }

    private static func duration(_ nanoseconds: Int64) -> Duration? {
        nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
    }

    /// An exponential average with weight 1/4: four samples to follow a change, and one outlier moves it by a quarter.
    private static func blend(_ time: Duration, into average: borrowing Atomic<Int64>) {
        let old = average.load(ordering: .relaxed)
        let new = old < 0 ? time.nanoseconds : old + (time.nanoseconds - old) / 4
        // A lost race loses one sample of an average.
        average.store(new, ordering: .relaxed)
    }
}
