import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// From one seed a whole run: managers, controllers, caches of several kinds, loaders that fail, suspend and call back,
/// values that lie, readers, writers, hooks, signals, limits, disks that fail and lie, kills and saved states. After every
/// step all promises are checked that can be.
///
/// `PRESSUREKIT_SEEDS=first-last` plays others than the few that are always played; `PRESSUREKIT_SEED_SCRIPT=path` plays
/// the steps in a file. `scripts/seeds.sh` plays a night of them, and looks how soon mistakes in the library are found.
@Suite(.serialized, .timeLimit(.minutes(60))) struct SeedTests {
    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    static let seeds: ClosedRange<UInt64> = {
        let asked = environment("PRESSUREKIT_SEEDS")?.split(separator: "-").compactMap { UInt64($0) }
        guard let first = asked?.first, let last = asked?.last, first <= last else { return 1...400 }
        return first...last
    }()

    /// How many seeds are played twice.
    static let twice = environment("PRESSUREKIT_SEEDS_TWICE").flatMap { UInt64($0) } ?? 40

    /// On a thread of its own: steps wait for tasks.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async throws -> Result {
        try await BlockingPool(threads: 1).run { body() }
    }

    @Test func noSeedBreaksAPromise() async throws {
        let seeds = Self.seeds
        // For who only wants to know whether one fails.
        let isHasty = Self.environment("PRESSUREKIT_SEED_FIRST") != nil
        let start = ContinuousClock.now
        let (failures, counts) = try await onThread {
            var failures: [(SeedPlan, SeedOutcome, SeedComplaint)] = []
            var counts = SeedCounts()
            for seed in seeds {
                let plan = SeedPlan(seed: seed)
                let outcome = plan.play()
                counts += outcome.counts
                guard let first = outcome.complaints.first else { continue }
                if isHasty {
                    failures.append((plan, outcome, first))
                    break
                }
                let short = plan.shrunk(promise: first.promise)
                failures.append((short, short.play(), first))
                if failures.count >= 3 { break }
            }
            return (failures, counts)
        }
        for (plan, outcome, first) in failures {
            Issue.record(
                """
                seed \(plan.seed) of commit \(Self.commit): \(first)
                shrunk to, as a file for PRESSUREKIT_SEED_SCRIPT:
                \(plan.script)
                and what of it can be said to pressuresim run:
                \(plan.scenario)
                \(outcome.complaints.map(\.description).joined(separator: "\n"))
                \(outcome.log.joined(separator: "\n"))
                """
            )
        }
        // Otherwise it would have tested little.
        if seeds.count >= 100 {
            #expect(counts.evicted > 0 && counts.spilled > 0 && counts.errors > 0 && counts.restores > 0)
            #expect(counts.onServer > 0)
        }
        if Self.environment("PRESSUREKIT_FIGURES") != nil {
            print("figure: \(seeds.count) seeds in \(ContinuousClock.now - start): \(counts)")
        }
    }

    @Test func theSameSeedGivesTheSameLog() async throws {
        let different = try await onThread {
            (1...Self.twice as ClosedRange<UInt64>).compactMap { seed -> String? in
                let plan = SeedPlan(seed: seed)
                let (first, second) = (plan.play(), plan.play())
                guard first.digest != second.digest else { return nil }
                let same = zip(first.log, second.log).prefix { $0 == $1 }.count
                let (one, other) = (first.log.dropFirst(same).first, second.log.dropFirst(same).first)
                let before = first.log.prefix(same).suffix(12).joined(separator: "\n")
                return "seed \(seed): \(before)\n\(one ?? "the end") | \(other ?? "the end")"
            }
        }
        #expect(different == [])
    }

    @Test func aRunThatIsWrittenDownIsTheSame() throws {
        for seed in 1...100 as ClosedRange<UInt64> {
            let plan = SeedPlan(seed: seed)
            var read = try SeedPlan(script: plan.script)
            read.seed = seed
            #expect(read == plan)
        }
        #expect(throws: SeedPlan.Unreadable.self) { try SeedPlan(script: "world managers=1\nfly 3\n") }
    }

    /// Runs that once found something, made short.
    private static let found = [
        // Nothing may leave, and a few bytes are missing: the background reclaim made one batch after the other.
        """
        world managers=1 limit=256 tier=2 order=1 direct=0 later=1 ahead=1 memory=1 nameless=1
        controller 5 3
        keyed 6 38 47
        set 3 744
        set 28 322
        set 9 583 48
        set 2 765 17
        others 24 460 16
        watch 31 41 15
        """
    ]

    @Test(arguments: found) func whatWasFoundStaysMended(_ script: String) async throws {
        let plan = try SeedPlan(script: script)
        let outcome = try await onThread { plan.play() }
        #expect(outcome.complaints.map(\.description) == [])
    }

    /// Seed 1501, when it was the first of its process: what does not shrink went another way than anything before it, which the
    /// runtime had to build first.
    @Test func whatDoesNotShrinkIsNoNewsToAProcess() async {
        await #expect(processExitsWith: .success) {
            let script = """
                world managers=1 limit=256 tier=1 order=1 direct=0 later=0 ahead=0 memory=0 nameless=1
                controller 1 1
                controller 5 3
                lazy 1 1 46
                lazy 6 41 38
                set 63 36
                set 54 423
                set 33 903
                warn 5 749 30
                """
            let plan = try SeedPlan(script: script)
            let outcome = try await BlockingPool(threads: 1).run { plan.play() }
            guard outcome.counts.spilled > 0 else { exit(1) }
            guard outcome.complaints.isEmpty else { exit(2) }
        }
    }

    /// A file that somebody got from a failure.
    @Test(.enabled(if: environment("PRESSUREKIT_SEED_SCRIPT") != nil))
    func theScriptBreaksNoPromise() async throws {
        let path = try #require(Self.environment("PRESSUREKIT_SEED_SCRIPT"))
        let plan = try SeedPlan(script: String(contentsOfFile: path, encoding: .utf8))
        let outcome = try await onThread { plan.play() }
        print(outcome.log.joined(separator: "\n"))
        #expect(outcome.complaints.map(\.description) == [])
    }

    /// Mistakes at the seams that are the run's own are found, and made short.
    @Test(arguments: SeedMistake.allCases)
    func aMistakeIsFoundAndMadeShort(_ mistake: SeedMistake) async throws {
        let found = try await onThread { () -> (UInt64, SeedPlan, SeedPlan, SeedComplaint)? in
            for seed in 1...100 as ClosedRange<UInt64> {
                let plan = SeedPlan(seed: seed)
                guard let complaint = plan.play(mistake: mistake).complaints.first else { continue }
                let short = plan.shrunk(mistake: mistake, promise: complaint.promise, attempts: 200)
                return (seed, plan, short, complaint)
            }
            return nil
        }
        let (seed, plan, short, complaint) = try #require(found, "not found in 100 seeds")
        #expect(short.steps.count < plan.steps.count)
        #expect(short.play(mistake: mistake).complaints.first?.promise == complaint.promise)
        if Self.environment("PRESSUREKIT_FIGURES") != nil {
            print("figure: \(mistake): seed \(seed), \(plan.steps.count) → \(short.steps.count) steps: \(complaint)")
        }
    }

    /// What the code is that failed.
    private static let commit = environment("PRESSUREKIT_COMMIT") ?? "(git rev-parse HEAD)"
}
