import Foundation
import Testing

@testable import ReportPages
@testable import pressuresim

/// WCAG 2.2's contrast, computed for every colour that a page has.
@Suite struct PaletteTests {
    /// Relative luminance of `#rrggbb`: WCAG 2.2, "relative luminance".
    private static func luminance(_ colour: StaticString) throws -> Double {
        let number = try #require(UInt32(colour.description.dropFirst(), radix: 16), "\(colour)")
        let parts = [16, 8, 0].map { shift -> Double in
            let part = Double(number >> UInt32(shift) & 0xFF) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    private static func contrast(_ one: StaticString, _ other: StaticString) throws -> Double {
        let both = try [luminance(one), luminance(other)].sorted()
        return (both[1] + 0.05) / (both[0] + 0.05)
    }

    private static func colour(_ name: String) throws -> Palette.Colour {
        try #require(Palette.colours.first { $0.name.description == name })
    }

    @Test func contrastIsComputedAsTheStandardSays() throws {
        #expect(try Self.contrast("#000000", "#ffffff") == 21)
        #expect(abs(try Self.contrast("#777777", "#ffffff") - 4.48) < 0.01)
    }

    @Test(arguments: Palette.colours.map(\.name.description))
    func everyColourStandsOutFromWhatItIsOn(name: String) throws {
        let colour = try Self.colour(name)
        for surface in Palette.colours where surface.use == .surface {
            let isPaper = surface.name.description == "paper"
            let least: Double? =
                switch colour.use {
                case .text: isPaper || name == "ink" || name == "muted" ? 4.5 : nil
                case .drawing: isPaper ? 3 : nil
                case .surface, .hairline: nil
                }
            guard let least else { continue }
            #expect(try Self.contrast(colour.light, surface.light) >= least, "light, on \(surface.name)")
            #expect(try Self.contrast(colour.dark, surface.dark) >= least, "dark, on \(surface.name)")
        }
    }

    @Test(arguments: [("blue", "sky"), ("sky", "green"), ("blue", "green")])
    func neighboursInAStackDifferInLightnessOrHaveALineBetweenThem(one: String, other: String) throws {
        let (first, second) = try (Self.colour(one), Self.colour(other))
        // Areas are outlined in the colour of the paper; without that, 1.2 is what is still seen on grey paper.
        for contrast in try [
            Self.contrast(first.light, second.light), Self.contrast(first.dark, second.dark),
        ] { #expect(contrast >= 1.2) }
    }

    @Test func everyToneIsAColour() throws {
        for tone in Tone.allCases { _ = try Self.colour(tone.rawValue) }
    }

    @Test func theStyleSheetIsWrittenAsItStands() {
        let css = Stylesheet.css.markup
        #expect(css.contains("--paper:#fcfcfa;"))
        #expect(css.contains(".fill-blue{fill:var(--blue)}"))
        #expect(!css.contains("&"))
        #expect(!css.contains("<"))
        #expect(css.count { $0 == "{" } == css.count { $0 == "}" })
        for forbidden in ["url(http", "@import", "@font-face", "//"] { #expect(!css.contains(forbidden)) }
    }
}
