import Foundation
import FoundationXML
import Testing

@testable import ReportPages
@testable import pressuresim

@Suite struct HtmlTests {
    /// What somebody could call a controller, a file or a scenario.
    static let hostile = [
        "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "' autofocus onfocus='alert(1)", "</style><b>",
        "</title></textarea>", "<!--", "]]>", "&lt;", "&#60;img src=x onerror=alert(1)&#62;", "a\u{0}b\u{1B}[31m",
        "\u{202E}gnp.exe", "javascript:alert(1)", "\u{FFFF}", "🧠 é 漢字",
    ]

    @Test(arguments: hostile)
    func whatIsPutInAsTextComesOutAsText(text: String) throws {
        let html = Html("p", .class(text), .set("title", text)) {
            text
            Html("code") { text }
        }
        let parsed = try Parsed(html.markup)
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.shown)))
        #expect(parsed.names == ["p", "code"])
        #expect(parsed.text == shown + shown)
        #expect(parsed.attributes.map { $0["class"] } == [shown, nil])
        #expect(parsed.attributes[0]["title"] == shown)
    }

    /// What no page may hold is replaced; everything else stays.
    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        ["\0", "\u{1B}", "\u{202E}", "\u{FFFF}"].contains(scalar) ? "\u{FFFD}" : scalar
    }

    @Test func everyASCIICharacterIsEitherItselfOrAReference() {
        for byte in UInt8(0x20)..<0x7F {
            let text = String(UnicodeScalar(byte))
            let references = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
            #expect(HtmlText.escape(text) == references[text] ?? text)
        }
    }

    @Test func elementsWithoutContentHaveNoEndAndAllOthersHaveOne() {
        #expect(Html("br").markup == "<br/>\n")
        #expect(Html("script").markup == "<script></script>\n")
        #expect(Html("b").markup == "<b></b>")
    }

    @Test func attributesThatAreNilAreLeftOut() {
        #expect(
            Html("b", nil, .set("x", part: 1.0 / 3), nil, .set("y", 2.50)).markup == "<b x=\"33.33%\" y=\"2.5\"></b>"
        )
    }

    @Test func conditionsAndLoopsBuild() {
        func list(_ items: [String], isOpen: Bool) -> Html {
            Html("ul") {
                if items.isEmpty { Html("b") { "none" } } else { Html("b") { "\(items.count)" } }
                for item in items { Html("b") { item } }
                items.map { item in Html("b") { item } }
                if isOpen { Html("b") { "…" } }
            }
        }
        #expect(list([], isOpen: false).markup == "<ul><b>none</b></ul>\n")
        #expect(list(["<"], isOpen: true).markup == "<ul><b>1</b><b>&lt;</b><b>&lt;</b><b>…</b></ul>\n")
        #expect(Html.group { "" }.isEmpty)
        #expect(!Html("b").isEmpty)
    }

    @Test(arguments: [
        ("shelf/Kept 1", "shelf-kept-1"), ("", "x"), ("---", "x"), ("9 lives", "x-9-lives"), ("é<\">", "x"),
        ("a_b", "a-b"),
    ])
    func identifiersAreSafeInAttributesAndSelectors(text: String, identifier: String) {
        #expect(HtmlText.identifier(text) == identifier)
    }
}

@Suite struct UnbrokenTests {
    @Test func noLineEndsBetweenANumberAndItsUnit() {
        #expect("12.5 MiB of 3 values".unbroken == "12.5\u{A0}MiB of 3\u{A0}values")
        #expect("none".unbroken == "none")
    }
}

/// Markup as an XML parser sees it.
final class Parsed: NSObject, XMLParserDelegate {
    private(set) var names: [String] = []
    private(set) var attributes: [[String: String]] = []
    private(set) var text = ""

    init(_ markup: String) throws {
        super.init()
        let parser = XMLParser(data: Data(markup.utf8))
        parser.delegate = self
        let isRight = parser.parse()
        try #require(isRight, "line \(parser.lineNumber): \(String(describing: parser.parserError))")
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        names.append(name)
        self.attributes.append(attributes)
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    /// An attribute of all elements that have it.
    func all(_ attribute: String) -> [String] { attributes.compactMap { $0[attribute] } }
}
