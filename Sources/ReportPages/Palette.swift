/// The colours of what is drawn. They differ in lightness too, so that they can be told apart by those who see few hues,
/// and on grey paper.
package enum Tone: String, CaseIterable, Sendable, CustomStringConvertible {
    case blue, sky, green, amber, red, purple, grey, ink

    package var description: String { rawValue }
}

/// Every colour of a page, once for light and once for dark.
///
/// A test holds each against the paper: 4.5 to 1 for text, 3 to 1 for what is drawn (WCAG 2.2, 1.4.3 and 1.4.11).
enum Palette {
    /// What a colour is used for, and so how much it must differ from the paper.
    enum Use: Sendable { case surface, hairline, text, drawing }

    struct Colour: Sendable {
        let name: StaticString
        let use: Use
        let light: StaticString
        let dark: StaticString
    }

    static let colours = [
        Colour(name: "paper", use: .surface, light: "#fcfcfa", dark: "#15181b"),
        Colour(name: "raised", use: .surface, light: "#f3f4f1", dark: "#1e2226"),
        Colour(name: "warning", use: .surface, light: "#fbecc0", dark: "#443714"),
        Colour(name: "critical", use: .surface, light: "#f7d5c6", dark: "#54271a"),
        Colour(name: "rule", use: .hairline, light: "#d8dad5", dark: "#363c42"),
        Colour(name: "ink", use: .text, light: "#1b1f23", dark: "#e9ebed"),
        Colour(name: "muted", use: .text, light: "#555c63", dark: "#a7aeb6"),
        Colour(name: "link", use: .text, light: "#1a4f91", dark: "#8dbcf2"),
        Colour(name: "good", use: .text, light: "#0c664b", dark: "#66d0ab"),
        Colour(name: "bad", use: .text, light: "#a2330c", dark: "#ff9d7a"),
        Colour(name: "blue", use: .drawing, light: "#1f4e8c", dark: "#4d86d0"),
        Colour(name: "sky", use: .drawing, light: "#5594cf", dark: "#a5cdf3"),
        Colour(name: "green", use: .drawing, light: "#168465", dark: "#4cc09d"),
        Colour(name: "amber", use: .drawing, light: "#bd7a06", dark: "#e5a93c"),
        Colour(name: "red", use: .drawing, light: "#bd3f10", dark: "#f08762"),
        Colour(name: "purple", use: .drawing, light: "#875699", dark: "#c79bd8"),
        Colour(name: "grey", use: .drawing, light: "#7c838a", dark: "#868e96"),
    ]

    /// The colours as custom properties; on paper they are the light ones.
    static var css: Html {
        .group {
            Html.verbatim(":root{color-scheme:light dark;")
            declarations(\.light)
            Html.verbatim("}\n@media screen and (prefers-color-scheme:dark){:root{")
            declarations(\.dark)
            Html.verbatim("}}\n")
            Tone.allCases.map(classes)
        }
    }

    private static func declarations(_ scheme: KeyPath<Colour, StaticString>) -> [Html] {
        colours.flatMap { colour -> [Html] in
            [
                .verbatim("--"), .verbatim(colour.name), .verbatim(":"), .verbatim(colour[keyPath: scheme]),
                .verbatim(";"),
            ]
        }
    }

    /// What is filled, drawn and named with a tone. A tone's name is from the source code, not from input.
    private static func classes(_ tone: Tone) -> Html {
        .text(
            ".fill-\(tone){fill:var(--\(tone))}.line-\(tone){stroke:var(--\(tone))}.tone-\(tone){--tone:var(--\(tone))}\n"
        )
    }
}
