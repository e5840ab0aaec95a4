import Foundation
import Histogram

/// Durations of one kind of event: how many, and how they are distributed.
///
/// Three significant digits from a nanosecond to an hour, which is what the figures of the account are good for; or two, which
/// take an eighth of the memory.
struct Latencies: Sendable {
    private var histogram: Histogram<UInt32>
    /// How many were recorded.
    private(set) var count = 0
    /// Their sum in nanoseconds.
    private(set) var total: Int64 = 0

    init(digits: SignificantDigits = .three) {
        histogram = Histogram(
            lowestDiscernibleValue: 1,
            highestTrackableValue: 3_600_000_000_000,
            numberOfSignificantValueDigits: digits
        )
    }

    /// Records one. What is longer than an hour counts as an hour.
    mutating func record(nanoseconds: Int64) {
        let clamped = min(max(nanoseconds, 1), 3_600_000_000_000)
        histogram.record(UInt64(clamped))
        count += 1
        total += clamped
    }

    /// Adds what another one recorded, to as many digits.
    mutating func add(_ other: Latencies) {
        histogram.add(other.histogram)
        count += other.count
        total += other.total
    }

    /// So many durations of so many nanoseconds.
    struct Count: Hashable, Sendable, Codable {
        var nanoseconds: Int64
        var count: Int
    }

    /// All that was recorded, from the shortest up: another one makes the same of it.
    var counts: [Count] {
        histogram.recordedValues().map { Count(nanoseconds: Int64($0.value), count: Int($0.count)) }
    }

    /// Adds what another one recorded, maybe in another process.
    mutating func add(_ counts: [Count]) {
        for found in counts where found.count > 0 {
            let clamped = min(max(found.nanoseconds, 1), 3_600_000_000_000)
            histogram.record(UInt64(clamped), count: UInt32(clamping: found.count))
            count += found.count
            total += clamped * Int64(found.count)
        }
    }

    /// How many took how long: upper bounds in seconds, so many to a factor of ten, each with the number of durations up to
    /// it and above the one before. From the first that holds any to the last.
    ///
    /// - Parameter parts: with four, the bounds are 1, 1.78, 3.16 and 5.62 of each power of ten.
    func buckets(perDecade parts: Int = 4) -> [(upTo: Double, count: Int)] {
        var counts: [Int: Int] = [:]
        for found in histogram.recordedValues() {
            // A billionth less, since a power of ten has no exact logarithm.
            let index = Int((Double(parts) * log10(Double(max(found.value, 1))) - 1e-9).rounded(.up))
            counts[index, default: 0] += Int(found.count)
        }
        guard let first = counts.keys.min(), let last = counts.keys.max() else { return [] }
        return (first...last).map { (pow(10, Double($0) / Double(parts)) / 1e9, counts[$0] ?? 0) }
    }

    /// The duration in seconds that `percent` of the events did not exceed; `nil` when there were none.
    func percentile(_ percent: Double) -> Double? {
        count > 0 ? Double(histogram.valueAtPercentile(percent)) / 1e9 : nil
    }
}

/// What an access met.
enum AccessOutcome: String, CaseIterable, Sendable {
    /// The value was in memory.
    case hit
    /// The loader made it, or was already at it.
    case load
    /// It was read back from the spill file, or was already on the way.
    case restore
}
