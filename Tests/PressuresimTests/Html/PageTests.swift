import Foundation
import Testing

@testable import ReportPages
@testable import pressuresim

@Suite struct PageTests {
    /// A page with everything the kit has.
    static func sample(_ name: String = "A page") -> Page {
        var table = DataTable(caption: name, columns: [.text(name), .number("Bytes")])
        table.add([name, "1"], position: 0)
        table.add([name, "2"], position: 1)
        let plot = Plot(
            id: "plot",
            title: name,
            description: name,
            x: .time(to: 10),
            y: .bytes(to: 1_000_000),
            layers: [Plot.path("line-blue", .line([PlotPoint(x: 0, y: 0), PlotPoint(x: 1, y: 1)]))]
        )
        let strips = Strips(
            id: "strips",
            title: name,
            description: name,
            axis: .durations(from: 1e-6, to: 1e-3),
            rows: [
                .init(
                    title: name,
                    summary: "p50",
                    tone: .green,
                    bars: [(lower: 1e-6, upper: 1e-5, count: 1), (lower: 1e-5, upper: 1e-4, count: 1000)],
                    marks: [2e-5]
                )
            ]
        )
        let bars = Bars(
            id: "bars",
            title: name,
            description: name,
            groups: [.init(title: name, bars: [.init(tone: .amber, value: 1, text: name)])],
            reference: 0.5
        )
        let figures = [("a", plot.html), ("b", strips.html), ("c", bars.html)].map { id, chart in
            ChartFigure(
                id: id,
                title: name,
                caption: .text(name),
                legend: [.init(tone: .blue, text: name)],
                chart: chart,
                table: table
            ).html
        }
        return Page(
            title: name,
            kicker: name,
            lead: .text(name),
            opening: Page.verdict(.good, name, name),
            sections: [.init("charts", name) { figures }],
            footer: .text(name),
            generator: name
        )
    }

    @Test(arguments: HtmlTests.hostile)
    func noNameAddsAnElement(name: String) throws {
        // Long names are shortened where there is little room: a harmless one of the same length is the measure.
        let ours = try Parsed(Self.sample(String(repeating: "a", count: name.count)).text)
        let theirs = try Parsed(Self.sample(name).text)
        #expect(theirs.names == ours.names)
        #expect(theirs.attributes.map { $0.keys.sorted() } == ours.attributes.map { $0.keys.sorted() })
    }

    @Test func thePageAsksNobodyForAnything() {
        let text = Self.sample().text
        for forbidden in ["http:", "https:", "src=", "@import", "fetch(", "XMLHttpRequest"] {
            #expect(!text.contains(forbidden), "\(forbidden)")
        }
        #expect(text.contains("default-src &#39;none&#39;"))
    }

    @Test func identifiersAreUniqueAndWhatRefersToThemFindsThem() throws {
        let page = try Parsed(Self.sample().text)
        let ids = page.all("id")
        #expect(Set(ids).count == ids.count)
        let references = page.all("aria-labelledby").flatMap { $0.split(separator: " ").map(String.init) }
        #expect(references.count >= 7)
        for reference in references { #expect(ids.contains(reference)) }
        for link in page.all("href").filter({ $0.hasPrefix("#") }) { #expect(ids.contains(String(link.dropFirst()))) }
    }

    /// Without numbers nobody knows whether the highest bar is three reads or three thousand.
    @Test func stripsSayHowManyTheirHeightsAre() throws {
        func labels(_ counts: [Int]) throws -> [String] {
            let rows = counts.map { count in
                Strips.Row(
                    title: "row",
                    summary: "",
                    tone: .green,
                    bars: [(lower: 1e-6, upper: 1e-5, count: count)],
                    marks: []
                )
            }
            let strips = Strips(
                id: "strips",
                title: "a",
                description: "b",
                axis: .durations(from: 1e-6, to: 1e-3),
                rows: rows
            )
            return strips.html.markup.components(separatedBy: "class=\"y count\"").dropFirst().compactMap { text in
                text.split(separator: ">").dropFirst().first?.split(separator: "<").first.map(String.init)
            }
        }
        #expect(try labels([7]) == ["1", "10"])
        // One scale for all rows.
        #expect(try labels([7, 28_000]) == ["1", "100 k", "1", "100 k"])
    }

    /// A label whose middle stands near an end does not reach out of the chart.
    @Test func labelsStayInside() {
        let ticks = [0.01, 0.5, 0.96].map { Axis.Tick(value: $0 * 24, label: "2026-01-31") }
        let text = Html.sequence(Plot.below(.places(count: 24, ticks: ticks), narrowest: 200)).markup
        let names = text.components(separatedBy: "class=\"").dropFirst().compactMap { $0.split(separator: "\"").first }
        #expect(names == ["x first", "x", "x last"])
        // 37 of 200 pixels: the last of ten runs has no room for its half.
        let last = [Axis.Tick(value: 9.5, label: "2026-01-31")]
        #expect(Html.sequence(Plot.below(.places(count: 10, ticks: last), narrowest: 200)).markup.contains("x last"))
    }

    @Test func aLoneEventAmongThousandsIsStillSeen() {
        #expect(Strips.height(of: 1, most: 100_000) > 4)
        #expect(Strips.height(of: 100_000, most: 100_000) == Strips.height(of: 7, most: 7))
    }
}
