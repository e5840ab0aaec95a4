/// Horizontal bars in groups, each with its value written beside it.
package struct Bars: Sendable {
    /// Bars about one thing.
    package struct Group: Sendable {
        var title: String
        var bars: [Bar]

        package init(title: String, bars: [Bar]) { (self.title, self.bars) = (title, bars) }
    }

    package struct Bar: Sendable {
        /// One beside the other.
        var parts: [(tone: Tone, value: Double)]
        /// The whole as people read it.
        var text: String

        var value: Double { parts.reduce(0) { $0 + $1.value } }

        package init(tone: Tone, value: Double, text: String) { self.init(parts: [(tone, value)], text: text) }

        package init(parts: [(tone: Tone, value: Double)], text: String) { (self.parts, self.text) = (parts, text) }
    }

    /// Unique in the page.
    var id: String
    var title: String
    var description: String
    var groups: [Group]
    /// A value with a line through the bars of all groups: a goal, or what others reach.
    var reference: Double?

    package init(id: String, title: String, description: String, groups: [Group], reference: Double? = nil) {
        self.id = id
        self.title = title
        self.description = description
        self.groups = groups
        self.reference = reference
    }

    /// The part of the width for bars; the rest is for values, wide enough for eight characters on a phone.
    private static let share = 0.76
    private static let titleHeight = 24.0
    private static let barPitch = 20.0
    private static let gap = 12.0

    /// The drawing.
    package var html: Html {
        Drawing(id: id, title: title, description: description, kind: "plot bars", height: height).html { parts }
    }

    /// How high it is, in pixels.
    var height: Double { groups.reduce(0.0) { $0 + Self.height(of: $1) } }

    /// What is drawn, in an SVG of that height.
    @HtmlBuilder var parts: Html {
        let most = max(groups.flatMap(\.bars).map(\.value).max() ?? 0, reference ?? 0)
        let scale = most > 0 ? most : 1
        drawing(scale)
    }

    private func drawing(_ most: Double) -> [Html] {
        var top = 0.0
        return groups.map { group in
            defer { top += Self.height(of: group) }
            return .group {
                Plot.title(group.title, y: top + 16, phone: 40, desk: 80)
                group.bars.enumerated().map { index, bar in
                    Self.draw(bar, top: top + Self.titleHeight + Self.barPitch * Double(index), most: most)
                }
                if let reference {
                    // Not through the title.
                    let place = reference / most * Self.share
                    Html(
                        "line",
                        .class("reference"),
                        .set("x1", part: place),
                        .set("x2", part: place),
                        .set("y1", top + Self.titleHeight - 4),
                        .set("y2", top + Self.titleHeight + Self.barPitch * Double(group.bars.count) - 2)
                    )
                }
            }
        }
    }

    private static func draw(_ bar: Bar, top: Double, most: Double) -> Html {
        var left = 0.0
        return .group {
            Html("rect", .class("track"), .set("y", top), .set("width", part: share), .set("height", 14))
            bar.parts.map { part in
                let width = min(max(part.value / most, 0), 1 - left)
                defer { left += width }
                return Html(
                    "rect",
                    .class("fill-\(part.tone)"),
                    .set("x", part: left * share),
                    .set("y", top),
                    .set("width", part: width * share),
                    .set("height", 14)
                )
            }
            Html("text", .class("row value"), .set("x", part: share), .set("dx", 78), .set("y", top + 12)) { bar.text }
        }
    }

    private static func height(of group: Group) -> Double {
        titleHeight + barPitch * Double(group.bars.count) + gap
    }
}
