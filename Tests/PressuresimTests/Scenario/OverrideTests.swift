import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// `--set key=value`.
@Suite struct OverrideTests {
    private func read(_ settings: String...) throws -> Scenario {
        let overrides = try settings.map { try #require(ScenarioOverride($0)) }
        return try ScenarioFile.parse(smallScenario, file: "test.yaml", setting: overrides)
    }

    private func complaint(_ settings: String...) -> String {
        do {
            _ = try ScenarioFile.parse(
                smallScenario,
                file: "test.yaml",
                setting: settings.compactMap(ScenarioOverride.init)
            )
            return ""
        } catch {
            return error.description
        }
    }

    @Test func aValueTakesThePlaceOfOneThatIsThere() throws {
        #expect(try read("seed=9").seed == 9)
        #expect(try read("controllers.shelf.caches.kept.count=7").controllers[0].caches[0].names.count == 7)
        #expect(
            try read("controllers.1.caches.2.size=16KiB").controllers[0].caches[1].size.lowerBound == .kibibytes(16)
        )
        #expect(try read("expect={}").expectations.isEmpty)
        #expect(try read("timeline.2={wait: 3s}", "name=Other").name == "Other")
    }

    /// Also below what the file does not mention.
    @Test func aValueIsAddedWhereThereIsNone() throws {
        #expect(try read("policy=lru").policy == .leastRecentlyUsed)
        #expect(try read("spill.limit=64MiB").spill.limit == .mebibytes(64))
        #expect(try read("expect.evicted=>= 1").expectations.count == 2)
    }

    /// Each name of an order is another of the library's.
    @Test func everyPolicyIsAnOrderOfItsOwn() {
        #expect(PolicySpec.leastRecentlyUsed.policy is LeastRecentlyUsed)
        #expect(PolicySpec.smallestFirst.policy is LowestCostFirst)
        let orders = Set(PolicySpec.allCases.map { ObjectIdentifier(type(of: $0.policy)) })
        #expect(orders.count == PolicySpec.allCases.count)
    }

    /// What was said there is told as the command line's, not as a place in the file.
    @Test func slipsAreToldLikeThoseOfTheFile() {
        #expect(complaint("seed=many") == "--set: found \"many\"; allowed here: a whole number from 0 to \(Int.max)")
        #expect(complaint("sead=1").hasPrefix("--set: found unknown key \"sead\" in a scenario"))
        #expect(complaint("sead=1").hasSuffix("did you mean \"seed\"?"))
        let unknown = complaint("controllers.shelv.visible=false")
        #expect(
            unknown.hasPrefix("--set: found no \"shelv\" for \"controllers.shelv.visible=false\"; allowed here: shelf")
        )
        #expect(complaint("seed.more=1").hasPrefix("--set: found no \"more\""))
        #expect(complaint("seed=[").hasPrefix("--set: found \"seed=[\""))
    }

    @Test func whatIsNoAssignmentIsNone() {
        for text in ["", "seed", "=1", ".seed=1", "seed.=1", "a..b=1"] {
            #expect(ScenarioOverride(text) == nil, "\(text)")
        }
        #expect(ScenarioOverride("a.b=c=d")?.value == "c=d")
    }
}
