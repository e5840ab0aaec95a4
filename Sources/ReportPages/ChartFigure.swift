/// A chart with what belongs to it: a heading, a sentence, a legend, the numbers as a table.
package struct ChartFigure: Sendable {
    /// One kind of thing in the chart.
    package struct Entry: Sendable {
        /// What it looks like there.
        package enum Look: String, Sendable {
            case box, bar, line, dashed
            /// The shading of a level.
            case warning, critical
            /// The side of a goal that is good, and the goal.
            case better, goal
        }

        var tone: Tone
        var look: Look = .box
        /// A drawing of ten pixels around its origin, in place of the look.
        var glyph: StaticString?
        var text: String

        /// A look that has no tone.
        package static func look(_ look: Look, _ text: String) -> Entry { Entry(tone: .ink, look: look, text: text) }

        package init(tone: Tone, look: Look = .box, glyph: StaticString? = nil, text: String) {
            (self.tone, self.look, self.glyph, self.text) = (tone, look, glyph, text)
        }
    }

    /// Unique in the page; the chart in it has another.
    var id: String
    var title: String
    /// What is to be seen.
    var caption: Html
    var legend: [Entry] = []
    var chart: Html
    var table: DataTable?
    /// The level of the heading: one below the section's.
    var headingLevel = 3

    package init(
        id: String,
        title: String,
        caption: Html,
        legend: [Entry] = [],
        chart: Html,
        table: DataTable? = nil,
        headingLevel: Int = 3
    ) {
        self.id = id
        self.title = title
        self.caption = caption
        self.legend = legend
        self.chart = chart
        self.table = table
        self.headingLevel = headingLevel
    }

    /// The figure.
    package var html: Html {
        // Where rows know their place, the script shows the row below the pointer.
        let canBeRead = table?.rows.contains { $0.position != nil } ?? false
        return Html("figure", .class("chart"), .id(id), canBeRead ? .set("data-readout", "") : nil) {
            Html("figcaption") {
                headingLevel == 3 ? Html("h3") { title } : Html("h4") { title }
                if !caption.isEmpty { Html("p") { caption } }
            }
            if !legend.isEmpty {
                Html("ul", .class("legend")) { legend.map(item) }
            }
            chart
            if let table {
                Html("details") {
                    Html("summary") {
                        "The same as a table"
                        Html("span", .class("unseen")) { ": \(title)" }
                    }
                    table.html
                }
            }
        }
    }

    private func item(_ entry: Entry) -> Html {
        Html("li") {
            if let glyph = entry.glyph {
                Html(
                    "svg",
                    .set("width", "12"),
                    .set("height", "12"),
                    .set("viewBox", "-6 -6 12 12"),
                    .set("aria-hidden", "true")
                ) {
                    Html("path", .class("glyph fill-\(entry.tone)"), .set("d", glyph.description))
                }
            } else {
                Html("span", .class("swatch \(entry.look.rawValue) tone-\(entry.tone)"), .set("aria-hidden", "true"))
            }
            entry.text
        }
    }
}
