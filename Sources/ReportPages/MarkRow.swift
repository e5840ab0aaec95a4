/// Marks above a plot: a glyph and a word for each, and a line to its moment on the curve.
///
/// There is one layout for phones and one for desks, since a word keeps its size and the plot does not.
package struct MarkRow: Sendable {
    /// By their words.
    private let glyphs: [String: StaticString]
    private let narrow: MarkLayout
    private let wide: MarkLayout

    /// - Parameters:
    ///   - moments: from left to right.
    ///   - glyphs: a drawing of ten pixels around its origin for each word.
    package init(_ moments: [MarkLayout.Moment], glyphs: [String: StaticString]) {
        self.glyphs = glyphs
        narrow = MarkLayout(moments, width: Self.narrowWidth)
        wide = MarkLayout(moments, width: Self.wideWidth)
    }

    /// A plot's width on a phone and on a desk, in pixels.
    package static let narrowWidth = 280.0
    package static let wideWidth = 640.0

    // Heights above the plot, in pixels.
    private static let lanes = 28.0
    private static let glyph = 49.0
    private static let words = 59.0

    /// The pixels above the plot that it takes on a desk.
    package var headroom: Int { Self.headroom(wide) }

    /// The same on a phone.
    package var narrowHeadroom: Int { Self.headroom(narrow) }

    private static func headroom(_ layout: MarkLayout) -> Int {
        if layout.places.isEmpty { return Int(lanes) + 2 }
        return Int(words) + (layout.isLevel ? 15 : Int(layout.longest * 0.71) + 15)
    }

    /// What is drawn.
    package var html: Html { .sequence(draw(narrow, "narrow") + draw(wide, "wide")) }

    private func draw(_ layout: MarkLayout, _ screen: String) -> [Html] {
        // In front of many lines nothing else would be seen.
        let isFew = layout.places.count <= 24
        return layout.places.map { place in
            Html("g", .class("moment \(screen)")) {
                Self.line("leader", from: (place.shown, Self.glyph - 6), to: (place.position, Self.lanes))
                Self.line("leader", from: (place.position, Self.lanes), to: (place.position, 0))
                if isFew { Plot.segment("rulemark", from: (place.position, 0), to: (place.position, 1)) }
                if let glyph = glyphs[place.word] { Plot.glyph("fill-ink", glyph, x: place.shown, y: -Self.glyph) }
                layout.isLevel ? Self.level(place) : Self.slanted(place)
            }
        }
    }

    private static func level(_ place: MarkLayout.Place) -> Html {
        Plot.label(place.text, .class("mark-label middle"), x: place.shown, y: 0, dx: 0, dy: -words)
    }

    private static func slanted(_ place: MarkLayout.Place) -> Html {
        Html(
            "svg",
            .class("glyph"),
            .set("x", part: place.shown),
            .set("y", -words),
            .set("width", "1"),
            .set("height", "1")
        ) {
            Html("text", .class("mark-label value"), .set("transform", "rotate(45)"), .set("dx", 2.0)) { place.text }
        }
    }

    /// A line between two places along the width, so many pixels above the plot.
    private static func line(_ name: String, from start: (Double, Double), to end: (Double, Double)) -> Html {
        Html(
            "line",
            .class(name),
            .set("x1", part: start.0),
            .set("y1", -start.1),
            .set("x2", part: end.0),
            .set("y2", -end.1)
        )
    }
}
