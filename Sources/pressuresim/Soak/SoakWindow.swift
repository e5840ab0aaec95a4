import Foundation

/// A sixtieth of the soak, summed up.
struct SoakWindow: Hashable, Sendable, Codable {
    /// When it ended, since the reading began.
    var seconds: Double
    /// Medians of what was seen in it, a look a second.
    var residentBytes: Double
    var descriptors: Double
    var spillBytes: Double
    var cgroupBytes: Double
    /// Of the process's C heap, at its end.
    var heapBytes: Double
    var restores: SoakNews.Restores
    /// Processes that wanted to run on the whole machine, the average over a minute.
    var machineLoad: Double

    init(_ news: SoakNews, _ sights: [SoakObserver.Sight], machineLoad: Double) {
        seconds = news.seconds
        restores = news.restores
        heapBytes = Double(news.heapBytes)
        func median(_ part: (SoakObserver.Sight) -> Int) -> Double {
            Robust.median(sights.map { Double(part($0)) }) ?? 0
        }
        residentBytes = median(\.residentBytes)
        descriptors = median(\.descriptors)
        spillBytes = median(\.spillBytes)
        cgroupBytes = median(\.cgroupBytes)
        self.machineLoad = machineLoad
    }
}

/// Statistics that a few wild values do not move. Pure.
enum Robust {
    /// The middle one; `nil` of none.
    static func median(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// How fast `y` grows with `x`: the median of the slopes between all pairs of points (Theil 1950, Sen 1968), which
    /// stands as long as fewer than 29 % of the points are wild. `nil` of fewer than two.
    static func slope(_ points: [(x: Double, y: Double)]) -> Double? {
        var slopes: [Double] = []
        for (index, left) in points.enumerated() {
            for right in points[(index + 1)...] where right.x != left.x {
                slopes.append((right.y - left.y) / (right.x - left.x))
            }
        }
        return median(slopes)
    }
}
