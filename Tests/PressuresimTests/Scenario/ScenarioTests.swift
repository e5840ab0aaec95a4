import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct ScenarioTests {
    @Test func aScenarioIsReadAsWritten() throws {
        let scenario = try scenario(
            smallScenario.replacingOccurrences(
                of: "controllers:",
                with: """
                    spill: {directory: /var/tmp, limit: 1GiB, allow_memory: true, compress_later: false}
                    memory: {taken_since_start: {warning: {enter: 2MiB, leave: 1MiB}, critical: {enter: 4MiB, leave: 3MiB}}}
                    controllers:
                    """
            )
        )
        #expect(scenario.name == "Small")
        #expect(scenario.seed == 5)
        #expect(
            scenario.spill
                == SpillSpec(
                    directory: "/var/tmp",
                    limit: .gibibytes(1),
                    allowsMemory: true,
                    compressesLater: false
                )
        )
        #expect(
            scenario.memory
                == .realBelowStart(
                    .init(
                        warning: .init(enter: .mebibytes(2), leave: .mebibytes(1)),
                        critical: .init(enter: .mebibytes(4), leave: .mebibytes(3))
                    )
                )
        )
        let shelf = try #require(scenario.controllers.first)
        #expect(shelf.names == ["shelf"])
        #expect(shelf.isVisible(index: 0))
        #expect(shelf.caches.map(\.count) == [3, 1])
        #expect(shelf.caches[0].content == .synthetic(compressibility: 0.5))
        #expect(shelf.caches[0].loader == nil)
        #expect(shelf.caches[1].size == .kibibytes(8)...(.kibibytes(32)))
        #expect(shelf.caches[1].loader == LoaderSpec(cost: .milliseconds(1), failure: 0))
        #expect(scenario.timeline.map(\.title) == ["access shelf/* in order", "critical warning"])
        #expect(scenario.expectations.map(\.text) == ["lost == 0"])
    }

    @Test func everyKindOfStepIsRead() throws {
        let steps = """
            timeline:
              - access: {of: shelf/*, pattern: {zipf: {alpha: 1.2}}, count: 1_000, threads: 2}
              - update: {of: shelf/kept-*, pattern: uniform, count: 2}
              - browse: {of: "*"}
              - warning: {level: warning, freeing: 1.5MiB}
              - background
              - foreground
              - show: shelf
              - hide: shelf
              - fill: {until: critical, at_most: 64MiB, rate: 50MB/s}
              - await: {level: normal, within: 1min}
              - release
              - wait: 200ms
              - together: [verify, {access: {of: shelf/made}}]
              - verify
            """
        var text = smallScenario.replacingOccurrences(of: "controllers:", with: "memory: real\ncontrollers:")
        let range = try #require(text.range(of: "timeline:"))
        text = text[..<range.lowerBound] + steps
        #expect(
            try scenario(text).timeline.map(\.title) == [
                "access shelf/* zipf 1.2 × 1000", "update shelf/kept-* uniformly × 2", "browse * in order",
                "warning, freeing 1.5 MiB", "background", "foreground", "show shelf", "hide shelf",
                "fill until critical, at most 64.0 MiB", "await normal", "release", "wait 200 ms",
                "together: verify; access shelf/made in order", "verify",
            ]
        )
    }

    @Test(arguments: [(1, ["a"]), (3, ["a-1", "a-2", "a-3"])])
    func oneNameBecomesMany(count: Int, names: [String]) {
        #expect(Numbering.names("a", count: count) == names)
    }

    @Test func numbersHaveAsManyDigitsAsTheLast() {
        let names = Numbering.names("card", count: 100)
        #expect(names.first == "card-001")
        #expect(names.last == "card-100")
        #expect(names == names.sorted())
        #expect(Set(names.map(Numbering.kind)) == ["card-*"])
        #expect(Numbering.kind(of: "deck/card-17/face") == "deck/card-*/face")
        #expect(Numbering.kind(of: "a-b/c-") == "a-b/c-")
    }

    /// The scenarios that come with the package, and the promise that each says what it shows.
    @Test(arguments: [
        "analytics", "container", "disk-full", "flashcards", "flood", "gallery", "neighbour", "neighbours", "news",
        "server",
        "slow-disk",
        "tunnel",
    ])
    func theScenariosOfThePackageAreRight(name: String) throws {
        let path = packageDirectory.appendingPathComponent("Scenarios/\(name).yaml").path
        let scenario = try ScenarioFile.read(path: path)
        #expect(!scenario.description.isEmpty)
        #expect(scenario.expectations.count >= 5)
        #expect(scenario.expectations.contains { $0.text == "lost == 0" })
    }
}
