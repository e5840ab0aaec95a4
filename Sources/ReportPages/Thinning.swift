/// Fewer points that look the same.
package enum Thinning {
    /// Which points to keep so that no more than about `limit` remain and no peak or trough is lost.
    ///
    /// The points are divided into parts of equal length; of each part its first, and the lowest and the highest of every
    /// series are kept, and of all of them the last. Series that are drawn on top of each other are thinned together.
    ///
    /// - Parameters:
    ///   - series: each with a value for every point.
    ///   - limit: more than one.
    /// - Returns: indices that rise.
    package static func keep(_ series: [[Double]], limit: Int) -> [Int] {
        let count = series.first?.count ?? 0
        guard count > limit, limit > 1 else { return Array(0..<count) }
        let parts = max(limit / (2 * series.count + 1), 1)
        var kept = Set([0, count - 1])
        for part in 0..<parts {
            let range = (part * count / parts)..<((part + 1) * count / parts)
            kept.insert(range.lowerBound)
            for values in series {
                if let lowest = range.min(by: { values[$0] < values[$1] }) { kept.insert(lowest) }
                if let highest = range.max(by: { values[$0] < values[$1] }) { kept.insert(highest) }
            }
        }
        return kept.sorted()
    }

    /// So many of `count` points, evenly, the first and the last among them.
    package static func evenly(_ count: Int, limit: Int) -> [Int] {
        guard count > limit, limit > 1 else { return Array(0..<count) }
        return (0..<limit).map { $0 * (count - 1) / (limit - 1) }
    }
}

/// How much room labels take.
package enum LabelFit {
    /// A label and where its middle stands, 0 … 1.
    package struct Label: Hashable, Sendable {
        package var position: Double
        package var text: String

        package init(position: Double, text: String) { (self.position, self.text) = (position, text) }
    }

    /// An upper bound of a character's width in a chart's labels, in pixels.
    package static let characterWidth = 7.5

    /// The text, or as much of its beginning as has room, with an ellipsis.
    static func shortened(_ text: String, to count: Int) -> String {
        text.count > count ? text.prefix(max(count - 1, 0)) + "…" : text
    }
}
