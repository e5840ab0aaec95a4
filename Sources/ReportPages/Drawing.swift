/// What every chart stands in: its place on the page, which the keyboard reaches, and its name for those who do not see it.
struct Drawing: Sendable {
    /// Unique in the page.
    var id: String
    /// What a screen reader says first.
    var title: String
    /// What is to be seen, in a sentence or two.
    var description: String
    /// Its classes.
    var kind: String
    /// In pixels.
    var height: Double
    /// Pixels above it that are drawn into, with a negative `y`.
    var headroom = 0.0
    /// The same on phones, if it is not the same.
    var narrowHeadroom: Double?

    /// The drawing with what stands in it.
    func html(@HtmlBuilder content: () -> Html) -> Html {
        let narrow = narrowHeadroom.map { ";--narrow-headroom:\(PathData.number($0))px" } ?? ""
        let style = "--height:\(PathData.number(height))px;--headroom:\(PathData.number(headroom))px\(narrow)"
        return Html("div", .class(kind), .set("style", style)) {
            Html(
                "svg",
                .id(id),
                .set("role", "img"),
                .set("aria-labelledby", "\(id)-title \(id)-desc"),
                .set("tabindex", "0"),
                .set("width", "100%"),
                .set("height", height)
            ) {
                Html("title", .id("\(id)-title")) { title }
                Html("desc", .id("\(id)-desc")) { description }
                content()
            }
        }
    }
}
