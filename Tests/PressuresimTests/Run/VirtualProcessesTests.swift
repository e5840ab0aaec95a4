import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// Several processes of a scenario in virtual time: managers side by side, below one imagined limit.
@Suite(.timeLimit(.minutes(5))) struct VirtualProcessesTests {
    /// Each reads 40 MiB of values at random, where there are 96 MiB for all.
    private static func text(_ count: Int, timeline: String) -> String {
        """
        name: Neighbours
        memory: {cgroup_limit: 96MiB}
        processes: \(count)
        controllers:
          - name: worker
            visible: true
            caches:
              - {name: pages, count: 640, size: 64KiB, content: {synthetic: {compressibility: 50%}}, loader: {cost: 1ms}}
        timeline:
        \(timeline)
        """
    }

    private static let reading = "  - access: {of: worker/*, pattern: {zipf: {alpha: 0.7}}, count: 2000, threads: 2}"

    private func play(_ text: String, entrant: Entrant? = nil) async throws -> (RunRecord, [EventLog.Event]) {
        let events = EventLog(keeps: true)
        let scenario = try scenario(text)
        var simulation = Simulation(
            scenario,
            file: "test.yaml",
            stage: .virtual(seed: scenario.seed, events: events)
        )
        simulation.entrant = entrant
        return (try await simulation.run(), events.events)
    }

    @Test func theyShareTheLimitAndNoneIsWarned() async throws {
        let (record, events) = try await play(Self.text(3, timeline: Self.reading))
        #expect(record.tally.losses.isEmpty && record.tally.failures == 0)
        #expect(record.neighbours.map(\.number) == [2, 3])
        #expect(record.neighbours.allSatisfy { $0.end == .finished && $0.result?.losses.isEmpty == true })
        #expect(!events.contains { $0.kind == "level" }, "what caches have taken warns nobody")
        // After half of it, all of them have read enough to fill the limit.
        let curves = record.heldByProcess
        for index in curves[0].held.indices.dropFirst(curves[0].held.count / 2) {
            let held = curves.map { ($0.held[index] ?? .zero).bytes }
            let sum = held.reduce(0, +)
            #expect(sum <= 96 << 20 && sum >= 72 << 20, "\(held)")
            #expect(held.allSatisfy { $0 > sum / 6 }, "\(held)")
        }
    }

    /// A program that takes a quarter of the limit is made room for by all of them together.
    @Test func aShortageIsSharedByAll() async throws {
        let hog = "\n  - hog: {size: 24MiB, rate: 8GiB/s, for: 1h}\n  - wait: 1s"
        let (record, _) = try await play(Self.text(3, timeline: Self.reading + hog))
        func held(at index: Int) -> [Int] { record.heldByProcess.map { ($0.held[index] ?? .zero).bytes } }
        let points = record.timeline.points
        let before = try #require(points.lastIndex { $0.step == 1 })
        // Before the steps are over, and the others read what has left when they verify.
        let after = try #require(points.lastIndex { $0.step == 3 })
        let freed = zip(held(at: before), held(at: after)).map { $0 - $1 }
        #expect(freed.allSatisfy { $0 > 0 }, "\(freed)")
        #expect(freed.reduce(0, +) < 36 << 20, "\(freed)")
    }

    @Test func whatCannotBePlayedIsRefused() async throws {
        let text = Self.text(2, timeline: Self.reading) + "\nspill: {directory: /dev/null/nowhere}"
        await #expect(throws: EnvironmentRefusal.self) { try await play(text) }
    }

    /// Who takes room from another process makes that one wait: what is compared is what all of them saw.
    @Test func aComparisonIsOfAllProcesses() async throws {
        let text = Self.text(
            2,
            timeline: "  - access: {of: worker/*}\n  - warning: critical\n  - access: {of: worker/*}"
        )
        .replacingOccurrences(of: "count: 640", with: "count: 16")
        var comparison = Comparison(scenario: try scenario(text), file: "test.yaml", isReal: false)
        comparison.contenders = [.purge]
        let score = try #require(try await comparison.run()?.scores.first)
        // Each of the two purges what it has, and makes it again.
        #expect(score[.reclaims] == 2)
        #expect(score[.evicted] == 32)
        let (record, _) = try await play(text)
        #expect(record.others.count == 1 && record.reclaims.count == 1)
        comparison.isReal = true
        await #expect(throws: EnvironmentRefusal.self) { try await comparison.run() }
    }

    /// A contender of `pressuresim compare` is one in every process.
    @Test func aContenderPlaysAllOfThem() async throws {
        let text = Self.text(3, timeline: Self.reading + "\n  - warning: critical")
            .replacingOccurrences(of: "loader: {cost: 1ms}", with: "loader: none")
        let all = Entrant(.purge)
        let (record, _) = try await play(text, entrant: all)
        #expect(record.tally.losses.isEmpty && record.tally.failures == 0)
        let others = all.companions
        #expect(others.count == 2)
        #expect(others.allSatisfy { $0.onlyCopies > 0 })
        #expect(all.onlyCopies > others.reduce(0) { $0 + $1.onlyCopies })
    }
}
