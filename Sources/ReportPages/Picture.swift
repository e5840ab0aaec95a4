/// Bars as a picture of its own, in one SVG file: for a page that is somebody else's, such as a README.
///
/// It has the colours of the pages, light or dark as its reader's system is, and its own ground, so that it can be read on
/// whatever it stands.
package struct Picture: Sendable {
    var title: String
    /// Below the title: how it was measured.
    var caption: String
    var legend: [ChartFigure.Entry]
    var bars: Bars
    /// In pixels.
    var width = 760.0

    package init(title: String, caption: String, legend: [ChartFigure.Entry], bars: Bars) {
        (self.title, self.caption, self.legend, self.bars) = (title, caption, legend, bars)
    }

    private static let margin = 24.0
    private static let top = 96.0

    /// The whole file.
    package var text: String { html.markup }

    private var height: Double { Self.top + bars.height + Self.margin }

    private var html: Html {
        Html(
            "svg",
            .set("xmlns", "http://www.w3.org/2000/svg"),
            .set("width", width),
            .set("height", height),
            .set("viewBox", "0 0 \(PathData.number(width)) \(PathData.number(height))"),
            .set("role", "img"),
            .set("aria-labelledby", "title desc")
        ) {
            Html("title", .id("title")) { title }
            Html("desc", .id("desc")) { bars.description }
            Html("style") {
                Palette.css
                Html.verbatim(Self.style)
            }
            Html("rect", .class("paper"), .set("width", "100%"), .set("height", "100%"), .set("rx", 6))
            Html("text", .class("title"), .set("x", Self.margin), .set("y", 34)) { title }
            Html("text", .set("x", Self.margin), .set("y", 54)) { caption }
            keys
            Html(
                "svg",
                .set("x", Self.margin),
                .set("y", Self.top),
                .set("width", width - 2 * Self.margin),
                .set("height", bars.height)
            ) { bars.parts }
        }
    }

    /// The legend, in a row.
    private var keys: [Html] {
        var left = Self.margin
        return legend.map { entry in
            defer { left += 14 + 8 + Double(entry.text.count) * LabelFit.characterWidth + 20 }
            return .group {
                Html(
                    "rect",
                    .class("fill-\(entry.tone)"),
                    .set("x", left),
                    .set("y", 66),
                    .set("width", 14),
                    .set("height", 11)
                )
                Html("text", .class("row"), .set("x", left + 22), .set("y", 76)) { entry.text }
            }
        }
    }

    /// What the pages' style sheet says of charts, as far as bars need it.
    private static let style: StaticString = """
        text{fill:var(--muted);font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif;font-variant-numeric:tabular-nums}
        text.row{fill:var(--ink);font-size:13px}
        text.title{fill:var(--ink);font-size:17px;font-weight:650}
        text.value{text-anchor:end}
        .paper{fill:var(--paper)}
        .track{fill:var(--raised)}
        .reference{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}
        .narrow{display:none}

        """
}
