import PressureSystem
package import SpillStore
package import Synchronization

/// What a cache has measured of itself.
package struct CacheStatistics: ~Copyable, Sendable {
    /// How often the loader ran to its end.
    package let loads = Atomic<Int>(0)
    /// How often the value was read back.
    package let restores = Atomic<Int>(0)
    /// How often the value left memory.
    package let evictions = Atomic<Int>(0)
    /// What those values took.
    package let evictedBytes = Atomic<Int>(0)
    /// Plain bytes that were compressed or written, ahead of an eviction or for one.
    package let copiedBytes = Atomic<Int>(0)
    /// What copies took that were written anew in idle time, and what they take since.
    package let rewrittenFromBytes = Atomic<Int>(0)
    package let rewrittenToBytes = Atomic<Int>(0)
    /// How often a load, spill or restore failed.
    package let failures = Atomic<Int>(0)
    /// How often the value came back before the reclaim that took it had expected.
    package let refaults = Atomic<Int>(0)
    /// The horizon of the last reclaim that took something from this cache, in ticks of the ``UseClock``.
    package let horizon = Atomic<UInt32>(0)
    /// The number of values in memory at that reclaim: a ``UseScale``.
    private let population = Atomic<UInt32>(0)
    private let shift = Atomic<UInt8>(0)
    /// The raw value of a ``CodecMemory``: whether the values can be compressed.
    package let codecMemory = Atomic<UInt64>(0)
    private let reportedLoads = Atomic<Int>(0)
    private let reportedRestores = Atomic<Int>(0)
    private let reportedRefaults = Atomic<Int>(0)
    private let reportedFailures = Atomic<Int>(0)
    private let averageFootprint = Atomic<Int64>(-1)
    private let averageLoad = Atomic<Int64>(-1)
    private let averageRestore = Atomic<Int64>(-1)
    private let averageRestoreBytes = Atomic<Int64>(-1)
    private let restoreRates = Lock(RestoreRates())
    private let writes = Atomic<Int>(0)
    private let averageWrite = Atomic<Int64>(-1)
    private let averageWriteBytes = Atomic<Int64>(-1)
    private let encodings = Atomic<Int>(0)
    private let averageEncodedBytes = Atomic<Int64>(-1)
    private let averageEncodedFootprint = Atomic<Int64>(-1)

    /// The moving average of the loader's time, if it ran at least once.
    package var loadTime: Duration? { Self.duration(averageLoad.load(ordering: .relaxed)) }

    /// The bytes that the next value the loader makes is likely to take; 0 before there was one.
    package var expectedFootprint: Int { max(0, Int(averageFootprint.load(ordering: .relaxed))) }

    /// The moving average of the time to read the value back, if that happened at least once.
    package var restoreTime: Duration? { Self.duration(averageRestore.load(ordering: .relaxed)) }

    /// Whether so few values were read back that what it takes is not known: none to speak of, or next to none of late. Not
    /// more than that, for what has a copy is read back from it, also where its loader is faster.
    package var isFindingOut: Bool {
        restores.load(ordering: .relaxed) < Self.fewRestores + loads.load(ordering: .relaxed) / 256
    }

    /// Whether so many values were written that some should have come back by now, and too few have to know what that takes.
    package var isUnconfirmed: Bool {
        writes.load(ordering: .relaxed) >= Self.manyWrites && restores.load(ordering: .relaxed) < Self.fewRestores
    }

    private static let fewRestores = 16
    /// Of values that are read unevenly more than one in sixteen comes back soon.
    private static let manyWrites = 256

    /// A reclaim takes something from this cache, and looks so many ticks of the ``UseClock`` ahead.
    func noteReclaim(horizon ticks: UInt32, _ scale: UseScale) {
        horizon.store(ticks, ordering: .relaxed)
        population.store(scale.population, ordering: .relaxed)
        shift.store(scale.shift, ordering: .relaxed)
    }

    /// Against what the ages of its values are measured.
    var scale: UseScale {
        UseScale(population: population.load(ordering: .relaxed), shift: shift.load(ordering: .relaxed))
    }

    /// Counts a load of a value that takes so many bytes.
    package func noteLoad(_ time: Duration, footprint: Int = 0) {
        let count = loads.wrappingAdd(1, ordering: .relaxed).newValue
        Self.blend(Int64(footprint), into: averageFootprint, after: count)
        Self.blend(time.nanoseconds, into: averageLoad, after: count)
    }

    /// Nanoseconds to read back a value of `byteCount` bytes: measured on others of this cache, or estimated.
    package func restoreCost(byteCount: Int) -> Float {
        Self.cost(averageRestore, averageRestoreBytes, byteCount) ?? CostEstimate.restore(byteCount: byteCount)
    }

    /// Nanoseconds to write a value of `byteCount` bytes: measured on others of this cache, or estimated.
    package func writeCost(byteCount: Int) -> Float {
        Self.cost(averageWrite, averageWriteBytes, byteCount) ?? CostEstimate.write(byteCount: byteCount)
    }

    /// Notes that a value with such a footprint was encoded into so many bytes.
    package func noteEncoding(footprint: Int, byteCount: Int) {
        let count = encodings.wrappingAdd(1, ordering: .relaxed).newValue
        Self.blend(Int64(footprint), into: averageEncodedFootprint, after: count)
        Self.blend(Int64(byteCount), into: averageEncodedBytes, after: count)
    }

    /// How many bytes a value with such a footprint is likely to be encoded into: as others of this cache, or half.
    package func expectedPlainByteCount(footprint: Int) -> Int {
        let bytes = averageEncodedBytes.load(ordering: .relaxed)
        let footprints = averageEncodedFootprint.load(ordering: .relaxed)
        guard bytes >= 0, footprints > 0 else { return max(1, footprint / 2) }
        return max(1, Int(clamping: Int(Double(footprint) * Double(bytes) / Double(footprints))))
    }

    /// Nanoseconds for the loader to run; infinite before it has.
    package var reloadCost: Float {
        let average = averageLoad.load(ordering: .relaxed)
        return average < 0 ? .infinity : Float(average)
    }

    /// Counts a restore of a value of `byteCount` bytes, of which so many lay compressed.
    package func noteRestore(_ time: Duration, byteCount: Int = 0, compressed: Int = 0) {
        let count = restores.wrappingAdd(1, ordering: .relaxed).newValue
        restoreRates.withLock { $0.note(time, byteCount: byteCount, compressed: compressed) }
        Self.blend(time.nanoseconds, into: averageRestore, after: count)
        Self.blend(Int64(byteCount), into: averageRestoreBytes, after: count)
    }

    /// What reading back a byte of a copy will take, which is read as often as those before it. At most 16 times: from there
    /// on nothing else matters anyway.
    package var restoreOutlook: RestoreOutlook {
        let copies = writes.load(ordering: .relaxed)
        guard copies > 0 else { return .none }
        let count = min(16, Double(restores.load(ordering: .relaxed)) / Double(copies))
        return restoreRates.withLock { $0.outlook(restores: count) } ?? .none
    }

    /// Notes that writing a value of `byteCount` bytes took so long.
    package func noteWrite(_ time: Duration, byteCount: Int) {
        let count = writes.wrappingAdd(1, ordering: .relaxed).newValue
        Self.blend(time.nanoseconds, into: averageWrite, after: count)
        Self.blend(Int64(byteCount), into: averageWriteBytes, after: count)
    }

    private static func cost(
        _ time: borrowing Atomic<Int64>,
        _ bytes: borrowing Atomic<Int64>,
        _ byteCount: Int
    ) -> Float? {
        let average = time.load(ordering: .relaxed)
        guard average >= 0 else { return nil }
        return CostEstimate.scaled(Float(average), from: Int(bytes.load(ordering: .relaxed)), to: byteCount)
    }

    private static func duration(_ nanoseconds: Int64) -> Duration? {
        nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
    }

    /// The mean of the first samples, and an exponential average with weight 1/64 from then on: what one costs is mostly the
    /// disk's mood, and decisions go by differences of two averages. With 1/16, of values of 4 KiB that are as quickly loaded as
    /// restored 1.3 to 3.4 times as many were written below a limit of 128 MiB (four runs of each).
    private static func blend(_ sample: Int64, into average: borrowing Atomic<Int64>, after count: Int) {
        let old = average.load(ordering: .relaxed)
        let new = old < 0 ? sample : old + (sample - old) / Int64(min(max(count, 1), 64))
        // A lost race loses one sample of an average.
        average.store(new, ordering: .relaxed)
    }
}

// What metrics are told.
extension CacheStatistics {
    /// Adds what was counted since the last call. Two calls at a time share it. Allocates nothing.
    func takeUnreported(into counts: inout UnreportedCounts) {
        counts.loads += Self.take(loads, reportedLoads)
        counts.restores += Self.take(restores, reportedRestores)
        counts.refaults += Self.take(refaults, reportedRefaults)
        counts.failures += Self.take(failures, reportedFailures)
    }

    private static func take(_ count: borrowing Atomic<Int>, _ told: borrowing Atomic<Int>) -> Int {
        let now = count.load(ordering: .relaxed)
        // Whoever of two is late has an older count: never less than nothing is told, and the rest next time.
        let before = told.max(now, ordering: .relaxed).oldValue
        return max(0, now - before)
    }
}
