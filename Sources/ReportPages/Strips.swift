/// Distributions below each other over one logarithmic axis: what is fast and what is slow can be compared by eye.
package struct Strips: Sendable {
    /// One distribution.
    package struct Row: Sendable {
        var title: String
        /// What is said at the right: the percentiles.
        var summary: String
        var tone: Tone
        /// Neighbouring intervals and how often something fell into each.
        var bars: [(lower: Double, upper: Double, count: Int)]
        /// Values that are marked with a line, the median first.
        var marks: [Double]

        package init(
            title: String,
            summary: String,
            tone: Tone,
            bars: [(lower: Double, upper: Double, count: Int)],
            marks: [Double]
        ) {
            self.title = title
            self.summary = summary
            self.tone = tone
            self.bars = bars
            self.marks = marks
        }
    }

    /// Unique in the page.
    var id: String
    var title: String
    var description: String
    var axis: Axis
    var rows: [Row]

    package init(id: String, title: String, description: String, axis: Axis, rows: [Row]) {
        self.id = id
        self.title = title
        self.description = description
        self.axis = axis
        self.rows = rows
    }

    private static let pitch = 78.0
    private static let barHeight = 44.0

    /// The powers of ten up to the fullest interval of all rows: one scale for all, so that rows can be compared.
    private var decades: [Double] {
        Ticks.decades(from: 1, to: Double(rows.flatMap(\.bars).map(\.count).max() ?? 1))
    }

    /// The drawing.
    package var html: Html {
        let height = Self.pitch * Double(rows.count)
        return Drawing(id: id, title: title, description: description, kind: "plot strips", height: height).html {
            axis.ticks.map { tick in
                let place = axis.position(of: tick.value)
                return Plot.segment("grid", from: (place, 0), to: (place, 1))
            }
            rows.enumerated().map { row($1, top: Self.pitch * Double($0)) }
            Plot.below(axis, narrowest: 280)
        }
    }

    /// Height is the logarithm of the number, so that the one slow restore among thousands is still seen.
    private func row(_ row: Row, top: Double) -> Html {
        let decades = decades
        let most = decades[decades.count - 1]
        let base = top + Self.pitch - 8
        return .group {
            Html("rect", .class("paper"), .set("y", top + 4), .set("width", "100%"), .set("height", 16))
            Plot.title(row.title, y: top + 16, phone: 22, desk: 80)
            Html("text", .class("row value"), .set("x", "100%"), .set("y", top + 16)) { row.summary }
            decades.map { count in
                let y = base - Self.height(of: Int(count), most: most)
                return Html("line", .class("grid"), .set("x2", "100%"), .set("y1", y), .set("y2", y))
            }
            [1, most].map { count in
                let y = base - Self.height(of: Int(count), most: most)
                return Html("text", .class("y count"), .set("dx", -8.0), .set("y", y + 4)) { Numeral.short(count) }
            }
            row.bars.filter { $0.count > 0 }.map { bar in
                let height = Self.height(of: bar.count, most: most)
                let start = axis.position(of: bar.lower)
                return Html(
                    "rect",
                    .class("bar fill-\(row.tone)"),
                    .set("x", part: start),
                    .set("width", part: axis.position(of: bar.upper) - start),
                    .set("y", base - height),
                    .set("height", height)
                )
            }
            Html("line", .class("zero"), .set("x2", "100%"), .set("y1", base), .set("y2", base))
            row.marks.enumerated().map { index, mark in
                Html(
                    "line",
                    .class(index == 0 ? "mark median" : "mark"),
                    .set("x1", part: axis.position(of: mark)),
                    .set("x2", part: axis.position(of: mark)),
                    .set("y1", base - Self.barHeight - 2),
                    .set("y2", base + 4)
                )
            }
        }
    }

    /// A bar's height in pixels: one event can be seen, and `most` has all of the row.
    static func height(of count: Int, most: Double) -> Double {
        barHeight * (1 + Ticks.log10(Double(count))) / (1 + Ticks.log10(max(most, 1)))
    }
}
