/// A place in a chart: parts of its width from the left and of its height from below, 0 … 1.
package struct PlotPoint: Hashable, Sendable {
    var x: Double
    var y: Double

    package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
}

/// The `d` of an SVG path, in a plot's coordinates: 1000 wide, 1000 high, from the top left.
package struct PathData: Hashable, Sendable {
    private(set) var text = ""

    /// A plot's extent: fine enough for the largest screen with one decimal.
    static let extent = 1000.0

    /// A line through all points.
    package static func line(_ points: [PlotPoint]) -> PathData {
        var path = PathData()
        path.append(points, joined: "M")
        return path
    }

    /// The area between two lines over the same places.
    package static func area(upper: [PlotPoint], lower: [PlotPoint]) -> PathData {
        var path = PathData.line(upper)
        guard !upper.isEmpty else { return path }
        path.append(lower.reversed(), joined: "L")
        path.text += "Z"
        return path
    }

    /// A line that keeps its height until the next point, and the last one's up to the end.
    static func steps(_ points: [PlotPoint], to end: Double = 1) -> PathData {
        var corners: [PlotPoint] = []
        for point in points {
            if let last = corners.last { corners.append(PlotPoint(x: point.x, y: last.y)) }
            corners.append(point)
        }
        if let last = corners.last { corners.append(PlotPoint(x: end, y: last.y)) }
        return line(corners)
    }

    private mutating func append(_ points: [PlotPoint], joined first: String) {
        for (index, point) in points.enumerated() {
            let x = Self.coordinate(point.x)
            let y = Self.coordinate(1 - point.y)
            text += "\(index == 0 ? first : "L")\(x) \(y)"
        }
    }

    private static func coordinate(_ part: Double) -> String { number(part * extent, decimals: 1) }

    /// A number as short as it can be written.
    static func number(_ value: Double, decimals: Int = 2) -> String {
        guard value.isFinite else { return "0" }
        let text = Quantities.fixed(value, decimals)
        guard text.contains(".") else { return text }
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
    }
}
