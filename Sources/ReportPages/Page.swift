/// A page that is one file: it asks nobody for anything, and is complete without its script.
package struct Page: Sendable {
    /// A part with a heading, found from the top of the page.
    package struct Section: Sendable {
        var id: String
        var title: String
        /// The title in the list of contents, where the other is long.
        var shortTitle: String?
        var body: Html

        package init(_ id: String, _ title: String, short: String? = nil, @HtmlBuilder body: () -> Html) {
            self.id = id
            self.title = title
            shortTitle = short
            self.body = body()
        }
    }

    /// A number that many came for.
    package struct Tile: Sendable {
        var title: String
        var figure: String
        var aside: String

        package init(title: String, figure: String, aside: String) {
            (self.title, self.figure, self.aside) = (title, figure, aside)
        }
    }

    /// The browser's title, and the only heading of the first level.
    var title: String
    /// Above it: what kind of page this is.
    var kicker: String
    /// Below it, in the header: what this is about.
    var lead: Html
    /// What is said before everything else: the verdict, and the numbers that many came for.
    var opening: Html
    var sections: [Section]
    var footer: Html
    /// The program that wrote it, with its version.
    var generator: String

    package init(
        title: String,
        kicker: String,
        lead: Html,
        opening: Html,
        sections: [Section],
        footer: Html,
        generator: String
    ) {
        self.title = title
        self.kicker = kicker
        self.lead = lead
        self.opening = opening
        self.sections = sections
        self.footer = footer
        self.generator = generator
    }

    /// The whole file.
    package var text: String { "<!DOCTYPE html>\n" + html.markup }

    /// Nothing may be fetched, whatever a page's text says.
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        + "form-action 'none'"

    private var html: Html {
        Html("html", .set("lang", "en")) {
            Html("head") {
                Html("meta", .set("charset", "utf-8"))
                Html("meta", .set("http-equiv", "Content-Security-Policy"), .set("content", Self.policy))
                Html("meta", .set("name", "viewport"), .set("content", "width=device-width, initial-scale=1"))
                Html("meta", .set("name", "color-scheme"), .set("content", "light dark"))
                Html("meta", .set("name", "generator"), .set("content", generator))
                Html("title") { "\(title) · \(kicker)" }
                Html("link", .set("rel", "icon"), .set("href", "data:,"))
                Html("style") { Stylesheet.css }
            }
            Html("body") {
                Html("a", .class("skip"), .set("href", "#content")) { "Skip to the content" }
                masthead
                Html("main", .id("content")) {
                    opening
                    sections.map(Self.section)
                }
                Html("footer") { footer }
                Self.hatch
                Html("script") { Html.verbatim(PageScript.source) }
            }
        }
    }

    private var masthead: Html {
        Html("header") {
            Html("p", .class("kicker")) { kicker }
            Html("h1") { title }
            lead
            Html("nav", .set("aria-label", "Contents")) {
                Html("ul") {
                    sections.map { section in
                        Html("li") { Html("a", .set("href", "#\(section.id)")) { section.shortTitle ?? section.title } }
                    }
                }
            }
        }
    }

    private static func section(_ section: Section) -> Html {
        Html("section", .id(section.id), .set("aria-labelledby", "\(section.id)-heading")) {
            Html("h2", .id("\(section.id)-heading")) { section.title }
            section.body
        }
    }

    /// The critical level's pattern, for all charts.
    private static let hatch = Html("svg", .set("width", "0"), .set("height", "0"), .set("aria-hidden", "true")) {
        Html("defs") {
            Html(
                "pattern",
                .id("hatch"),
                .set("width", "7"),
                .set("height", "7"),
                .set("patternUnits", "userSpaceOnUse"),
                .set("patternTransform", "rotate(45)")
            ) {
                Html("line", .class("hatch-line"), .set("y2", "7"))
            }
        }
    }

    // MARK: Pieces that several pages have

    /// The numbers that many came for.
    package static func tiles(_ tiles: [Tile]) -> Html {
        Html("dl", .class("tiles")) {
            tiles.map { tile in
                Html("div") {
                    Html("dt") { tile.title }
                    Html("dd", .class("figure")) { tile.figure }
                    if !tile.aside.isEmpty { Html("dd", .class("aside")) { tile.aside } }
                }
            }
        }
    }

    /// Names and what they stand for.
    package static func facts(_ facts: [(name: String, value: String)]) -> Html {
        Html("dl", .class("facts")) {
            facts.map { fact in
                Html.group {
                    Html("dt") { fact.name }
                    Html("dd") { fact.value }
                }
            }
        }
    }

    /// What an answer says of what was hoped for.
    package enum Verdict: String, Sendable {
        case good = "✓"
        case bad = "✗"
        /// Neither: nobody is better, or it cannot be said.
        case open = "–"

        var tone: Tone { self == .good ? .green : self == .bad ? .red : .grey }
        var textClass: String { self == .good ? "good" : self == .bad ? "bad" : "muted" }
    }

    /// The answer, in one sentence that cannot be missed; the sign says it without colour.
    package static func verdict(_ verdict: Verdict, _ title: String, _ text: String) -> Html {
        Html("section", .class("verdict tone-\(verdict.tone)"), .set("aria-label", "Verdict")) {
            Html("h2", .class(verdict.textClass)) { "\(verdict.rawValue) \(title)" }
            Html("p") { text }
        }
    }
}
