/// A chart with two axes that fills whatever width it gets, from a phone's to a sheet of paper's, with text that keeps
/// its size.
///
/// The SVG has no coordinate system of its own: what stands in it is placed by parts of its width. Only paths are drawn in
/// 1000 × 1000 units and stretched, their strokes not. So one drawing does for every width.
package struct Plot: Sendable {
    /// Unique in the page.
    var id: String
    /// What a screen reader says first.
    var title: String
    /// What is to be seen, in a sentence or two.
    var description: String
    /// In pixels.
    var height = 240
    var x: Axis
    var y: Axis
    /// Pixels above the plot that layers draw into, with a negative `y`.
    var headroom = 0
    /// The narrowest that it gets, in pixels: on a phone.
    var narrowest = 280.0
    /// On phones, where other things may stand above the plot, the same as `headroom`.
    var narrowHeadroom: Int?
    /// What is drawn, the first at the back.
    var layers: [Html] = []

    package init(
        id: String,
        title: String,
        description: String,
        height: Int = 240,
        x: Axis,
        y: Axis,
        headroom: Int = 0,
        narrowHeadroom: Int? = nil,
        narrowest: Double = 280,
        layers: [Html] = []
    ) {
        self.id = id
        self.title = title
        self.description = description
        self.height = height
        self.x = x
        self.y = y
        self.headroom = headroom
        self.narrowHeadroom = narrowHeadroom
        self.narrowest = narrowest
        self.layers = layers
    }

    /// The drawing with its axes.
    package var html: Html {
        Drawing(
            id: id,
            title: title,
            description: description,
            kind: "plot",
            height: Double(height),
            headroom: Double(headroom),
            narrowHeadroom: narrowHeadroom.map(Double.init)
        ).html {
            grid
            layers
            labels
        }
    }

    private var grid: Html {
        .sequence(
            y.ticks.map { tick in
                let place = 1 - y.position(of: tick.value)
                return Self.segment(tick.value == 0 ? "zero" : "grid", from: (0, place), to: (1, place))
            }
        )
    }

    private var labels: Html {
        let vertical = y.ticks.map { tick in
            Self.label(tick.label, .class("y"), x: 0, y: 1 - y.position(of: tick.value), dx: -8, dy: 4)
        }
        return .sequence(vertical + Self.below(x, narrowest: narrowest))
    }

    /// The labels of the axis below a chart. One whose middle stands so near to an end that half of it would be outside
    /// begins or ends at its place.
    ///
    /// - Parameter width: the narrowest that the chart gets, in pixels.
    static func below(_ x: Axis, narrowest width: Double) -> [Html] {
        x.ticks.map { tick in
            let place = x.position(of: tick.value)
            let half = Double(tick.label.count) * LabelFit.characterWidth / 2 / width
            let end = place < min(half, 0.5) ? " first" : 1 - place < half ? " last" : ""
            let names = "x\(end)\(tick.isMinor ? " minor" : "")"
            return label(tick.label, .class(names), x: place, y: 1, dx: 0, dy: 20)
        }
    }

    // MARK: Layers

    /// A path in the plot's coordinates.
    package static func path(_ class: String, _ path: PathData) -> Html {
        Html(
            "svg",
            .class("stretched"),
            .set("viewBox", "0 0 1000 1000"),
            .set("preserveAspectRatio", "none"),
            .set("width", "100%"),
            .set("height", "100%")
        ) {
            Html("path", .class(`class`), .set("d", path.text))
        }
    }

    /// A straight line between two places, as parts of the width and, from above, of the height.
    package static func segment(_ class: String, from start: (Double, Double), to end: (Double, Double)) -> Html {
        Html(
            "line",
            .class(`class`),
            .set("x1", part: start.0),
            .set("y1", part: start.1),
            .set("x2", part: end.0),
            .set("y2", part: end.1)
        )
    }

    /// A title at the left, so many pixels from the top, as long as there is room for it on a phone and on a desk. In full
    /// it belongs into the table.
    package static func title(_ text: String, y: Double, phone: Int, desk: Int) -> Html {
        let (short, long) = (LabelFit.shortened(text, to: phone), LabelFit.shortened(text, to: desk))
        func title(_ text: String, _ names: String) -> Html { Html("text", .class(names), .set("y", y)) { text } }
        return short == long
            ? title(short, "row") : .sequence([title(short, "row narrow"), title(long, "row wide")])
    }

    /// A band over the whole height.
    package static func band(_ class: String, from start: Double, to end: Double) -> Html {
        Html(
            "rect",
            .class(`class`),
            .set("x", part: start),
            .set("width", part: max(end - start, 0)),
            .set("height", "100%")
        )
    }

    /// A band over the whole width, from one height to another, from above.
    package static func shade(_ class: String, from start: Double, to end: Double) -> Html {
        Html(
            "rect",
            .class(`class`),
            .set("y", part: start),
            .set("width", "100%"),
            .set("height", part: max(end - start, 0))
        )
    }

    /// A box in a lane above the plot: places along the width, pixels in height.
    package static func lane(_ class: String, from start: Double, to end: Double, y: Double, height: Double) -> Html {
        Html(
            "rect",
            .class(`class`),
            .set("x", part: start),
            .set("width", part: max(end - start, 0)),
            .set("y", y),
            .set("height", height)
        )
    }

    /// A dot.
    package static func dot(_ class: String, at point: PlotPoint, radius: Double = 3.5) -> Html {
        Html("circle", .class(`class`), .set("cx", part: point.x), .set("cy", part: 1 - point.y), .set("r", radius))
    }

    /// A small drawing of its own in pixels, its origin at a place of the width, moved by
    /// `dx` pixels, and so many pixels from the top.
    package static func glyph(_ class: String, _ path: StaticString, x: Double, y: Double, dx: Double = 0) -> Html {
        Html("svg", .class("glyph"), .set("x", part: x), .set("y", y), .set("width", "1"), .set("height", "1")) {
            let shift = dx == 0 ? nil : HtmlAttribute.set("transform", "translate(\(PathData.number(dx)))")
            Html("path", .class(`class`), .set("d", path.description), shift)
        }
    }

    /// Text at a place, moved by so many pixels.
    package static func label(_ text: String, _ class: HtmlAttribute, x: Double, y: Double, dx: Double, dy: Double)
        -> Html
    {
        Html("text", `class`, .set("x", part: x), .set("y", part: y), .set("dx", dx), .set("dy", dy)) { text }
    }
}
