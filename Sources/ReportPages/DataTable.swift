/// A table: what a chart shows in numbers, or facts of their own.
package struct DataTable: Sendable {
    package struct Column: Sendable {
        package var title: String
        /// Numbers stand at the right, one below the other.
        var isNumber: Bool

        package static func text(_ title: String) -> Column { Column(title: title, isNumber: false) }
        package static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
    }

    package struct Row: Sendable {
        /// The first one is the row's header.
        var cells: [Html]
        /// Where the row stands in the chart that the table belongs to, 0 … 1.
        var position: Double?
        var `class`: String?
    }

    var caption: String
    /// Where the figure above says the same, the caption is for screen readers only.
    var isCaptionHidden = false
    package var columns: [Column]
    var rows: [Row] = []
    private var lastMoment: [String] = []

    package init(caption: String, isCaptionHidden: Bool = false, columns: [Column]) {
        (self.caption, self.isCaptionHidden, self.columns) = (caption, isCaptionHidden, columns)
    }

    /// Adds a row of texts.
    package mutating func add(_ cells: [String], position: Double? = nil, class: String? = nil) {
        add(cells.map(Html.text), position: position, class: `class`)
    }

    /// Adds a row of texts about a moment, unless it says what the row before does: two points at one moment with nothing between
    /// them are one line, and one place to stop at with the arrow keys.
    package mutating func add(moment cells: [String], position: Double) {
        guard cells != lastMoment else { return }
        lastMoment = cells
        add(cells, position: position)
    }

    /// Adds a row.
    package mutating func add(_ cells: [Html], position: Double? = nil, class: String? = nil) {
        rows.append(Row(cells: cells, position: position, class: `class`))
    }

    /// The table. Where it is too wide it scrolls by itself, and the page does not.
    package var html: Html {
        Html("div", .class("scroll"), .set("role", "region"), .set("aria-label", caption), .set("tabindex", "0")) {
            Html("table") {
                Html("caption", isCaptionHidden ? .class("unseen") : nil) { caption }
                Html("thead") {
                    Html("tr") {
                        columns.map { column in
                            Html("th", .set("scope", "col"), column.isNumber ? .class("number") : nil) { column.title }
                        }
                    }
                }
                Html("tbody") { rows.map(row) }
            }
        }
    }

    private func row(_ row: Row) -> Html {
        let position = row.position.map { HtmlAttribute.set("data-at", PathData.number($0, decimals: 4)) }
        return Html("tr", row.class.map(HtmlAttribute.class), position) {
            row.cells.enumerated().map { index, cell in
                let isNumber = index < columns.count && columns[index].isNumber
                let names = isNumber ? HtmlAttribute.class("number") : nil
                return index == 0
                    ? Html("th", .set("scope", "row"), names) { cell } : Html("td", names) { cell }
            }
        }
    }
}
