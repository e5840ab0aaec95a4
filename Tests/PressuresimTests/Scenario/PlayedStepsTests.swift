import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// What the steps of the language do when they are really played. Nothing here depends on how long anything takes.
@Suite struct PlayedStepsTests {
    private func play(_ text: String) async throws -> (record: RunRecord, figures: Figures) {
        let record = try await Simulation(try scenario(text), file: "test.yaml").run()
        return (record, Figures(record))
    }

    private func shop(_ timeline: String, cache: String = "", top: String = "") -> String {
        """
        name: Shop
        seed: 4
        \(top)
        controllers:
          - name: shop
            visible: true
            caches:
              - name: goods
                keyed: {keys: 40\(cache)}
                size: 16KiB
                content: {synthetic: {entropy: 6}}
                loader: {cost: 0ms to 1us}
              - name: orders
                keyed: {keys: 10}
                size: 4KiB
                storage: array
                content: text
                loader: none
            children:
              - {name: left, visible: true, caches: [{name: a, count: 3, size: 8KiB, content: text, loader: none}]}
              - {name: right, caches: [{name: a, count: 3, size: 8KiB, content: text, loader: none}]}
            presents:
              - {name: till, caches: [{name: sum, size: 8KiB, content: text, loader: none}]}
        timeline:
        \(timeline)
        """
    }

    @Test func everyKeyOfAKeyedCacheIsAValueThatIsVerified() async throws {
        let (record, figures) = try await play(
            shop(
                """
                  - access: {of: shop/goods}
                  - access: {of: shop/goods}
                  - access: {of: "shop/goods[1?]"}
                  - update: {of: shop/orders, pattern: uniform, count: 30}
                  - warning: critical
                  - access: {of: shop/orders}
                """
            )
        )
        #expect(figures[.values] == 57)
        #expect(figures[.lost] == 0)
        #expect(figures[.verified] == 57)
        #expect(figures[.loads] == 40)
        #expect(figures[.hits] == 50)
        #expect(figures[.restores] == 10)
        #expect(figures[.hitRate] == 0.5)
        #expect(record.reclaims.first?.evicted.contains { $0.path == "shop/orders" && $0.values == 10 } == true)
    }

    @Test func aKeyedCacheKeepsToItsLimitWithoutPressure() async throws {
        let (_, figures) = try await play(
            shop("  - access: {of: shop/goods, pattern: uniform, count: 300}", cache: ", limit: 160KiB")
        )
        #expect(figures[.reclaims] == 0)
        // A quarter fits: a hit rate near one would mean that nobody keeps to anything.
        #expect(try #require(figures[.hitRate]) < 0.6)
        #expect(figures[.lost] == 0)
    }

    @Test func presentingCoversAndDismissingUncovers() async throws {
        let (record, figures) = try await play(
            shop(
                """
                  - present: shop/till
                  - update: {of: shop/till/sum, count: 3}
                  - warning: critical
                  - dismiss: shop/till
                  - access: {of: shop/till/sum}
                """
            )
        )
        #expect(record.steps.map(\.outcome).contains("shop covered"))
        #expect(record.steps.map(\.outcome).contains("shop uncovered"))
        #expect(record.reclaims.first?.evicted.contains { $0.path == "shop/till/sum" } == true)
        #expect(figures[.failedAccesses] == 0)
        #expect(figures[.lost] == 0)
    }

    @Test func aTransitionBringsTheIncomingBackFirst() async throws {
        let (record, figures) = try await play(
            shop("  - warning: critical\n  - transition: {from: shop/left, to: shop/right}")
        )
        #expect(figures[.restoredAhead] == 3)
        #expect(figures[.failedAccesses] == 0)
        #expect(record.steps.last?.outcome.hasPrefix("3 values restored ahead") == true)
    }

    @Test func aHogIsAnotherProcessAndIsGoneAtTheEnd() async throws {
        let text = shop(
            "  - hog: {size: 16MiB, rate: 1GB/s, for: 10min}\n  - release\n  - hog: {size: 8MiB, for: 10min}"
        )
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("hog.yaml")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let outcome = try Tool.run(["run", file.path, "--json", "-"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let report = try Tool.json(outcome)
            let figures = try #require(report["figures"] as? [String: [String: Any]])
            #expect(try #require(figures["hogged"]?["value"] as? Double) >= Double(16 << 20))
            for step in try #require(report["steps"] as? [[String: Any]]) where step["title"] as? String != "release" {
                let words = try #require(step["outcome"] as? String)
                let process = try #require(words.split(separator: " ").last.flatMap { Int32($0) }, "\(words)")
                #expect(kill(process, 0) != 0)
            }
        }
    }

    @Test func phasesNameWhatFollows() async throws {
        let (record, _) = try await play(
            shop("  - access: {of: shop/orders}\n  - phase: Rush\n  - access: {of: shop/orders}\n  - warning: critical")
        )
        #expect(record.steps.map(\.phase) == [nil, "Rush", "Rush", "Rush"])
    }

    @Test func thePolicyOfTheScenarioIsTheManagers() async throws {
        let warned = "  - access: {of: shop/goods}\n  - warning: {level: warning, freeing: 8KiB}"
        let purged = try await play(shop(warned, top: "policy: purge")).figures
        let usual = try await play(shop(warned)).figures
        // Purging takes everything at every warning; the library's own order takes what was asked for.
        let (all, some) = (try #require(purged[.evicted]), try #require(usual[.evicted]))
        #expect(all > some + 20)
    }

    @Test func aScenarioWithALimitIsNotPlayedWithoutIt() async throws {
        let text = shop("  - verify", top: "memory: {cgroup_limit: 128MiB}")
        await #expect(throws: EnvironmentRefusal.self) { try await play(text) }
    }

    /// Twice what the cgroup allows: without a limit that binds, nothing would have to leave.
    @Test func aScenarioWithALimitIsPlayedInACgroup() async throws {
        let text = """
            name: Small container
            memory: {cgroup_limit: 96MiB}
            controllers:
              - name: service
                caches:
                  - {name: kept, count: 40, size: 2MiB, content: {synthetic: {entropy: 8}}, loader: none}
                  - {name: made, count: 40, size: 2MiB, content: {synthetic: {entropy: 8}}, loader: {cost: 1ms}}
            timeline:
              - access: {of: service/*}
              - access: {of: service/*, pattern: uniform, count: 60}
            expect:
              lost: == 0
              failed_accesses: == 0
              cgroup_peak: <= 96MiB
            """
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("container.yaml")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let outcome = try Tool.run(["run", file.path, "--json", "-"])
            guard outcome.status != 3 else { return print("skipped: \(outcome.errors)") }
            #expect(outcome.status == 0, "\(outcome.output.suffix(800)) \(outcome.errors)")
            #expect(outcome.output.contains("\"passed\" : true"))
        }
    }
}
