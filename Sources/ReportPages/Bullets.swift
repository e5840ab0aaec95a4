/// Bullet charts below each other: each value against its goal, and all goals below each other whatever their units.
package struct Bullets: Sendable {
    /// Which side of the goal is good.
    package enum Side: Sendable { case atMost, atLeast }

    /// One value.
    package struct Row: Sendable {
        package var title: String
        /// Beside the title, where there is room.
        var detail: String
        /// The value over its goal; 1 is the goal.
        var share: Double
        var side: Side
        /// What is said at the right: the value and its goal.
        var text: String
        package var holds: Bool

        package init(title: String, detail: String, share: Double, side: Side, text: String, holds: Bool) {
            (self.title, self.detail, self.text) = (title, detail, text)
            (self.share, self.side, self.holds) = (share, side, holds)
        }
    }

    /// Unique in the page.
    var id: String
    var title: String
    var description: String
    var rows: [Row]

    package init(id: String, title: String, description: String, rows: [Row]) {
        (self.id, self.title, self.description, self.rows) = (id, title, description, rows)
    }

    private static let pitch = 42.0
    private static let top = 22.0
    /// Twice the goal is the end: what is further away is cut there, and its number says where it is.
    private static let end = 2.0

    /// The drawing.
    package var html: Html {
        let height = Self.pitch * Double(rows.count)
        return Drawing(id: id, title: title, description: description, kind: "plot bars", height: height).html {
            rows.enumerated().map { Self.draw($1, top: Self.pitch * Double($0)) }
        }
    }

    private static func label(_ text: String, _ names: String, y: Double) -> Html {
        Html("text", .class(names), .set("y", y)) { text }
    }

    private static func draw(_ row: Row, top: Double) -> Html {
        let goal = 1 / end
        let part = min(max(row.share.isFinite ? row.share / end : 1, 0), 1)
        return .group {
            label(LabelFit.shortened(row.title, to: 26), "row narrow", y: top + 14)
            label(
                LabelFit.shortened(row.detail.isEmpty ? row.title : "\(row.title): \(row.detail)", to: 66),
                "row wide",
                y: top + 14
            )
            Html("text", .class("row value"), .set("x", "100%"), .set("y", top + 14)) { row.text }
            Html(
                "rect",
                .class("better"),
                .set("x", part: row.side == .atMost ? 0 : goal),
                .set("width", part: goal),
                .set("y", top + Self.top),
                .set("height", 14)
            )
            Html("rect", .class("frame"), .set("width", "100%"), .set("y", top + Self.top), .set("height", 14))
            Html(
                "rect",
                .class("bullet fill-\(row.holds ? Tone.blue : .red)"),
                .set("width", part: part),
                .set("y", top + Self.top + 4),
                .set("height", 6)
            )
            if row.share > end || !row.share.isFinite {
                Plot.glyph("cut", "M-4 -4L2 0L-4 4", x: 1, y: top + Self.top + 7, dx: -6)
            }
            Html(
                "line",
                .class("goal"),
                .set("x1", part: goal),
                .set("x2", part: goal),
                .set("y1", top + Self.top - 3),
                .set("y2", top + Self.top + 17)
            )
        }
    }
}
