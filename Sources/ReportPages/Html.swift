/// A piece of a page: elements, text, and what else a page is made of.
///
/// A `String` in it is always text and is escaped when the page is written. Markup that is taken as it stands is a
/// `StaticString`, which only source code can be. So nothing from a scenario, a path or an error can become markup.
///
/// ```swift
/// Html("p", .class("lead")) {
///     "Read in "
///     Html("strong") { Quantities.duration(seconds) }
/// }
/// ```
package struct Html: Sendable {
    private indirect enum Content: Sendable {
        case text(String)
        case verbatim(StaticString)
        case element(name: StaticString, [HtmlAttribute], Html)
        case sequence([Html])
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// An element.
    ///
    /// - Parameters:
    ///   - name: of the element.
    ///   - attributes: those that are not `nil`, in this order.
    ///   - body: what stands in it.
    package init(_ name: StaticString, _ attributes: HtmlAttribute?..., @HtmlBuilder body: () -> Html = { .nothing }) {
        content = .element(name: name, attributes.compactMap(\.self), body())
    }

    /// Text.
    package static func text(_ text: String) -> Html { Html(.text(text)) }

    /// Markup, a style sheet or a script as it stands in the source code.
    static func verbatim(_ literal: StaticString) -> Html { Html(.verbatim(literal)) }

    /// One after the other.
    package static func sequence(_ parts: [Html]) -> Html { Html(.sequence(parts)) }

    /// Pieces put together as an element's body is.
    package static func group(@HtmlBuilder _ body: () -> Html) -> Html { body() }

    package static let nothing = Html(.sequence([]))

    /// Whether it writes nothing.
    package var isEmpty: Bool {
        switch content {
        case .text(let text): text.isEmpty
        case .verbatim, .element: false
        case .sequence(let parts): parts.allSatisfy(\.isEmpty)
        }
    }

    /// The markup. It is well-formed XML too, so that tests can read it without a browser.
    var markup: String {
        var markup = ""
        write(to: &markup)
        return markup
    }

    private func write(to markup: inout String) {
        switch content {
        case .text(let text): HtmlText.escape(text, into: &markup)
        case .verbatim(let literal): markup += literal.description
        case .sequence(let parts): for part in parts { part.write(to: &markup) }
        case .element(let name, let attributes, let body):
            markup += "<\(name)"
            for attribute in attributes {
                markup += " \(attribute.name)=\""
                HtmlText.escape(attribute.value, into: &markup)
                markup += "\""
            }
            guard !Self.hasNoEnd(name) else { return markup += "/>\n" }
            markup += ">"
            body.write(to: &markup)
            markup += "</\(name)>"
            if Self.endsALine(name) { markup += "\n" }
        }
    }

    /// HTML's elements without content; all others get an end tag, as HTML wants it.
    private static func hasNoEnd(_ name: StaticString) -> Bool {
        ["meta", "link", "br", "hr", "col"].contains(name.description)
    }

    /// Those between which blanks mean nothing: their source is easier to read in lines.
    private static func endsALine(_ name: StaticString) -> Bool {
        !["a", "abbr", "b", "bdi", "code", "em", "small", "span", "strong", "time", "tspan"].contains(name.description)
    }
}

/// An attribute of an element. Its value is escaped when it is written.
package struct HtmlAttribute: Sendable {
    let name: StaticString
    let value: String

    package static func set(_ name: StaticString, _ value: String) -> HtmlAttribute {
        HtmlAttribute(name: name, value: value)
    }

    /// A number with two decimals at most.
    static func set(_ name: StaticString, _ value: Double) -> HtmlAttribute { .set(name, PathData.number(value)) }

    /// A part of the width or the height, 0 … 1.
    static func set(_ name: StaticString, part: Double) -> HtmlAttribute {
        .set(name, PathData.number(part * 100) + "%")
    }

    package static func `class`(_ names: String) -> HtmlAttribute { .set("class", names) }
    static func id(_ id: String) -> HtmlAttribute { .set("id", id) }
}

/// Strings are text, elements are elements; `if`, `switch` and `for` do what they say.
@resultBuilder
package enum HtmlBuilder {
    package static func buildExpression(_ text: String) -> Html { .text(text) }
    package static func buildExpression(_ html: Html) -> Html { html }
    package static func buildExpression(_ parts: [Html]) -> Html { .sequence(parts) }
    package static func buildBlock(_ parts: Html...) -> Html { parts.count == 1 ? parts[0] : .sequence(parts) }
    package static func buildOptional(_ part: Html?) -> Html { part ?? .nothing }
    package static func buildEither(first: Html) -> Html { first }
    package static func buildEither(second: Html) -> Html { second }
    package static func buildArray(_ parts: [Html]) -> Html { .sequence(parts) }
}
