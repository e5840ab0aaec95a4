import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// Small scenarios from end to end, on the real library and real memory. Nothing here depends on how long anything takes.
@Suite struct SimulationTests {
    private func play(_ text: String) async throws -> (record: RunRecord, figures: Figures) {
        let record = try await Simulation(try scenario(text), file: "test.yaml").run()
        return (record, Figures(record))
    }

    @Test func everythingThatLeftComesBack() async throws {
        let (record, figures) = try await play(
            smallScenario.replacingOccurrences(
                of: "  - warning: critical",
                with: """
                      - warning: critical
                      - access: {of: shelf/**, threads: 2}
                      - update: {of: shelf/kept-*, count: 4}
                      - background
                      - foreground
                      - access: {of: shelf/**, pattern: zipf, count: 20}
                    """
            )
        )
        #expect(figures[.lost] == 0)
        #expect(figures[.verified] == 4)
        #expect(figures[.failedAccesses] == 0)
        #expect(figures[.reclaims] == 2)
        #expect(figures[.evicted] == 8)
        #expect(figures[.accesses] == 28)
        #expect(figures[.loads] == 1)
        // Three values were changed, so each was written twice, unless it could be dropped.
        #expect((figures[.restores] ?? 0) >= 3)
        #expect(record.verifiedAtEnd == 4)
        #expect(record.steps.map(\.number) == [1, 2, 3, 4, 5, 6, 7])
        #expect(record.reclaims.map(\.origin) == ["simulated", "background"])
        #expect(record.evictions.count == 8)
    }

    @Test(arguments: [(0.75, 0.2...0.32), (0.5, 0.45...0.58), (0, 0.99...1.02)])
    func syntheticContentCompressesAsStated(compressibility: Double, ratio: ClosedRange<Double>) async throws {
        let text =
            smallScenario
            .replacingOccurrences(of: "compressibility: 0.5", with: "compressibility: \(compressibility)")
            .replacingOccurrences(of: "64KiB", with: "1MiB")
            .replacingOccurrences(of: "seed: 5", with: "seed: 5\nspill: {compress_later: false}")
        let figures = try await play(text).figures
        let measured = try #require(figures[.compressionRatio])
        #expect(ratio.contains(measured), "\(measured)")
    }

    @Test func theHeapsValuesComeBackToo() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "size: 64KiB",
            with: "size: 1KiB to 64KiB\n        storage: array"
        )
        let figures = try await play(text).figures
        #expect(figures[.lost] == 0)
        #expect(figures[.verified] == 4)
    }

    @Test func failingLoadersAreCountedAndTriedAgain() async throws {
        let text =
            smallScenario
            .replacingOccurrences(of: "cost: 1ms", with: "failure: 100%")
            .replacingOccurrences(of: "of: shelf/*", with: "of: shelf/made, count: 5")
        let figures = try await play(text).figures
        #expect(figures[.loaderFailures] == 5)
        #expect(figures[.failedAccesses] == 0)
        #expect(figures[.accesses] == 0)
        #expect(figures[.lost] == 0)
        #expect(figures[.verified] == 4)
    }

    /// A keyed cache that keeps to a limit of its own evicts without any reclaim: that is seen, and told apart.
    @Test func whatLeavesForACachesOwnLimitIsCounted() async throws {
        let text = """
            name: Limited
            controllers:
              - name: shelf
                caches:
                  - {name: kept, keyed: {keys: 40, count_limit: 10}, size: 16KiB, content: text, loader: none}
            timeline:
              - access: {of: shelf/*, count: 80}
              - warning: critical
            """
        let (record, figures) = try await play(text)
        let inReclaims = try #require(figures[.evictedInReclaims])
        #expect(record.steps[1].reclaim.map { Double($0.values()) } == inReclaims)
        #expect(inReclaims >= 1 && inReclaims <= 10)
        // 30 left while they were set; each of 80 reads in order missed, and pushed one out.
        #expect(try #require(figures[.evictedOtherwise]) >= 100)
        #expect(figures[.evicted] == inReclaims + (figures[.evictedOtherwise] ?? 0))
        #expect(record.outflow.bytes == record.outflow.values * (16 << 10))
        // Each was written once, whoever wanted it out.
        #expect(try #require(figures[.written]) >= Double(30 * (16 << 10)))
        #expect(record.verifiedAtEnd == 40)
    }

    @Test func browsingShowsOneControllerAtATime() async throws {
        let text = """
            name: Deck
            controllers:
              - name: card
                count: 5
                visible: first
                caches:
                  - {name: face, size: 4KiB, content: text, loader: none}
            timeline:
              - browse: {of: card-*, count: 7}
              - background
              - foreground
            """
        let (record, figures) = try await play(text)
        #expect(figures[.hits] == 7)
        // The one that was visible at the end of the browse.
        #expect(figures[.restoredAhead] == 1)
        #expect(record.reclaims.first?.evicted.map(\.path) == ["card-*/face"])
    }

    @Test func stepsMayRunSideBySide() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "  - warning: critical",
            with: """
                  - together:
                      - warning: critical
                      - access: {of: shelf/**, pattern: uniform, count: 500, threads: 2}
                      - update: {of: shelf/kept-*, pattern: uniform, count: 100}
                  - background
                """
        )
        let (record, figures) = try await play(text)
        #expect(record.tally.losses.isEmpty, "\(record.tally.losses)")
        #expect(figures[.lost] == 0)
        #expect(figures[.accesses] == 504)
    }

    @Test func aFullSpillFileKeepsValuesInMemory() async throws {
        let text = smallScenario.replacingOccurrences(of: "controllers:", with: "spill: {limit: 64KiB}\ncontrollers:")
            .replacingOccurrences(of: "compressibility: 0.5", with: "compressibility: 0")
        let (record, figures) = try await play(text)
        #expect(figures[.lost] == 0)
        #expect((figures[.skipped] ?? 0) >= 2)
        #expect(
            record.reclaims.allSatisfy {
                $0.skipped.allSatisfy { $0.reason.hasPrefix("spill") || $0.reason == "notCompressible" }
            }
        )
        #expect(!record.reclaims.flatMap(\.failures).isEmpty)
    }

    @Test(arguments: ["/no/such/directory", "/proc"])
    func aSpillDirectoryThatIsNoneIsTheEnvironmentsRefusal(directory: String) async throws {
        let text = smallScenario.replacingOccurrences(
            of: "controllers:",
            with: "spill: {directory: \(directory)}\ncontrollers:"
        )
        await #expect(throws: EnvironmentRefusal.self) { _ = try await play(text) }
    }
}

@Suite struct PreflightTests {
    private func check(_ text: String, available: ByteCount?) throws {
        try Preflight(try scenario(text), available: available).check()
    }

    @Test func aScenarioThatDoesNotFitIsRefusedWithAnAdvice() throws {
        let text = smallScenario.replacingOccurrences(of: "count: 3", with: "count: 1024")
        // 1,024 values of 64 KiB and one of 32 KiB, above a floor of 192 MiB.
        try check(text, available: .mebibytes(257))
        #expect(throws: EnvironmentRefusal.self) { try check(text, available: .mebibytes(256)) }
        try check(text, available: nil)
        do {
            try check(text, available: .mebibytes(10))
        } catch let refusal as EnvironmentRefusal {
            #expect(refusal.message.contains("Close other programs"))
        }
    }

    @Test func fillsCountByTheLargestBound() throws {
        let text = smallScenario.replacingOccurrences(of: "controllers:", with: "memory: real\ncontrollers:")
            .replacingOccurrences(
                of: "  - warning: critical",
                with: """
                      - fill: {until: warning, at_most: 100MiB}
                      - fill: {until: critical, at_most: 300MiB}
                      - release
                    """
            )
        try check(text, available: .mebibytes(493))
        #expect(throws: EnvironmentRefusal.self) { try check(text, available: .mebibytes(492)) }
    }

    @Test func bandsAreCountedFromWhatIsAvailableAtTheStart() throws {
        let taken = MemorySpec.TakenSinceStart(
            warning: .init(enter: .mebibytes(200), leave: .mebibytes(100)),
            critical: .init(enter: .mebibytes(400), leave: .mebibytes(300))
        )
        let thresholds = taken.thresholds(available: .mebibytes(1000), total: .mebibytes(2000))
        try thresholds.validate()
        #expect(thresholds.warning.enter == 0.4)
        #expect(thresholds.warning.leave == 0.45)
        #expect(thresholds.critical.enter == 0.3)
        #expect(thresholds.critical.leave == 0.35)
    }
}
