import PressureKit

/// Whether something grows from window to window that should stay as it is. Pure.
///
/// The first quarter is for warming up. In the other three, the robust slope of the windows' medians, times their length,
/// is what the thing has grown by; so much is tolerated.
struct SoakDrift: Hashable, Sendable {
    /// What is looked at.
    enum Measure: String, Hashable, Sendable, CaseIterable, Codable {
        case resident = "resident memory"
        case heap = "C heap in use"
        case descriptors
        case spillFile = "spill file"
        case restore = "restore, median"
    }

    var measure: Measure
    /// The median of all windows after the first quarter.
    var level: Double
    /// How much it has grown since the first quarter.
    var growth: Double
    /// How much it may.
    var tolerance: Double

    var isTolerated: Bool { growth <= tolerance }

    /// Of each measure, from the windows in their order. `nil` when they do not
    /// say anything about one of them.
    static func judge(_ windows: [SoakWindow], limit: ByteCount) -> [SoakDrift]? {
        let settled = Array(windows.dropFirst(windows.count / 4))
        guard settled.count >= fewestWindows, let first = settled.first, let last = settled.last else { return nil }
        let drifts = Measure.allCases.compactMap { measure -> SoakDrift? in
            let points = settled.compactMap { window in value(measure, window).map { (x: window.seconds, y: $0) } }
            // Nothing of a thing is no sign that it does not grow: nobody has seen it.
            guard let level = Robust.median(points.map(\.y)), level > 0, let slope = Robust.slope(points) else {
                return nil
            }
            return SoakDrift(
                measure: measure,
                level: level,
                growth: slope * (last.seconds - first.seconds),
                tolerance: tolerance(measure, level, limit)
            )
        }
        return drifts.count == Measure.allCases.count ? drifts : nil
    }

    /// In less, warming up and the neighbour's coming and going are all there is to see.
    static let leastSeconds: Double = 120

    /// With fewer, one wild window would be the slope.
    static let fewestWindows = 8

    private static func value(_ measure: Measure, _ window: SoakWindow) -> Double? {
        switch measure {
        case .resident: window.residentBytes
        case .heap: window.heapBytes
        case .descriptors: window.descriptors
        case .spillFile: window.spillBytes
        case .restore: window.restores.median
        }
    }

    /// Resident memory swings between the thresholds of the limit, as the neighbour takes its share: a tenth of the limit.
    /// Heap and disk: a tenth of what is usual. Latencies: half of their median, since the machine does other things too.
    /// Descriptors: libdispatch keeps one for each of its threads that waits.
    private static func tolerance(_ measure: Measure, _ level: Double, _ limit: ByteCount) -> Double {
        switch measure {
        case .resident: Double(limit.bytes) / 10
        case .heap, .spillFile: level / 10
        case .descriptors: 3
        case .restore: level / 2
        }
    }
}
