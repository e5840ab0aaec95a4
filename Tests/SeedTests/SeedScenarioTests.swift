import Foundation
import Testing

/// Runs as scenarios of the tool, which plays them on a real disk.
@Suite struct SeedScenarioTests {
    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// With every step that has words, and some that have none.
    private static let script = """
        world managers=1 limit=512 tier=0 order=2 direct=0 later=1 ahead=0 memory=0 nameless=1
        controller 0 0
        controller 1 0
        lazy 0 0 0
        keyed 1 1 8
        keyed 0 0 0
        suspending 1 0 0
        set 0 1
        set 5 1
        set 6 1
        set 0 1
        update 6
        read 0
        await 2
        lease 9
        invalidate 2
        nested 5
        values
        warn 0 1
        warn 0 3
        reclaim 0 100
        twice 0 30 40
        appear 0
        disappear 0
        fault 0 3 1
        reclaim 0 200
        heal
        fault 0 5 1
        capacity 0 3
        capacity 0 0
        watch 0 10
        idle
        background
        foreground
        hooks 0 3
        restore
        audit
        """

    /// The tests of the tool play this file. With `PRESSUREKIT_UPDATE_GOLDEN` in the environment it is written.
    @Test func aRunIsAScenarioToo() throws {
        let text = try SeedPlan(script: Self.script).scenario
        let file = URL(filePath: #filePath).appending(path: "../../PressuresimTests/Fixtures/seed.yaml").standardized
        if Self.environment("PRESSUREKIT_UPDATE_GOLDEN") != nil { try Data(text.utf8).write(to: file) }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }

    /// For `pressuresim check`: every seed in a file of its own.
    @Test(.enabled(if: environment("PRESSUREKIT_SEED_SCENARIOS") != nil))
    func everySeedIsOne() throws {
        let directory = URL(filePath: try #require(Self.environment("PRESSUREKIT_SEED_SCENARIOS")))
        for seed in SeedTests.seeds {
            try Data(SeedPlan(seed: seed).scenario.utf8).write(to: directory.appending(path: "seed-\(seed).yaml"))
        }
    }
}
