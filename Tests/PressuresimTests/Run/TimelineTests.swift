import Foundation
import PressureKit
import Testing

@testable import pressuresim

@Suite struct TimelineTests {
    private func play(_ text: String, stage: Stage = .virtual()) async throws -> RunRecord {
        try await Simulation(try scenario(text), file: "test.yaml", stage: stage).run()
    }

    private let eventful = smallScenario.replacingOccurrences(
        of: "  - warning: critical",
        with: """
              - warning: critical
              - access: {of: shelf/**, pattern: uniform, count: 400}
              - background
              - foreground
            """
    )

    @Test func theCurveShowsWhatLeavesAndWhatComesBack() async throws {
        let record = try await play(eventful)
        let points = record.timeline.points
        #expect(points.map(\.at) == points.map(\.at).sorted())
        #expect(points.map(\.step) == points.map(\.step).sorted())
        #expect(points.last?.step == 5)
        // Each step has a point before and after it.
        let reclaim = points.filter { $0.step == 2 }
        #expect(reclaim.first?.spilled == .zero && reclaim.first?.resident.bytes ?? 0 > 3 * 65_536)
        #expect(reclaim.last?.resident == .zero && reclaim.last?.spilled.bytes ?? 0 >= 3 * 65_536)
        #expect(reclaim.last?.stored.bytes ?? 0 > 0)
        #expect(points.last?.accesses == 404)
        #expect(points.last?.misses == record.tally.count - (record.tally.latencies[.hit]?.count ?? 0))
        #expect(points.allSatisfy { $0.rss == nil && $0.clean <= $0.resident })
        #expect(record.timeline.marks.map(\.kind) == [.warning, .reclaim, .background, .reclaim, .foreground])
        #expect(record.timeline.marks.map(\.at) == record.timeline.marks.map(\.at).sorted())
    }

    /// Whether a loader is worth a copy is measured anew with each load; what has one does not change with that.
    @Test(arguments: ["1us", "300ms"]) func whatHasALoaderIsNoMatterOfWhatItCosts(cost: String) async throws {
        let text = smallScenario.replacingOccurrences(of: "{cost: 1ms}", with: "{cost: \(cost)}")
        let record = try await play(text)
        let loaded = try #require(record.timeline.points.last { $0.step == 1 })
        #expect(loaded.reloadable.bytes > 0 && loaded.copied == .zero)
        #expect(loaded.resident - loaded.reloadable == .kibibytes(3 * 64), "the three that are kept")
    }

    @Test func whatIsReadAgainHasACopyUntilItIsChanged() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "  - warning: critical",
            with: """
                  - warning: critical
                  - access: {of: shelf/kept-*}
                  - update: {of: shelf/kept-*, pattern: sequential, count: 3}
                """
        )
        let points = try await play(text).timeline.points
        let read = try #require(points.last { $0.step == 3 })
        #expect(read.copied == .kibibytes(3 * 64))
        let changed = try #require(points.last { $0.step == 4 })
        #expect(changed.copied == .zero && changed.reloadable == .zero)
    }

    /// After a relaunch the copies are in the saved state, not in the spill file, as long as they are good for something.
    @Test func theStateFileIsATierOfItsOwn() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "  - warning: critical",
            with: """
                  - warning: critical
                  - relaunch
                  - access: {of: shelf/kept-*}
                  - update: {of: shelf/kept-*, pattern: sequential, count: 3}
                """
        )
        let points = try await play(text).timeline.points
        #expect(points.filter { $0.step <= 2 }.allSatisfy { $0.inState == .zero })
        let launched = try #require(points.first { $0.step > 2 })
        #expect(launched.inState.bytes > 0 && launched.stored == .zero)
        #expect(launched.spilled.bytes >= 3 * 65_536)
        let read = try #require(points.last { $0.step == 4 })
        #expect(read.inState == launched.inState, "reading leaves the copies")
        let changed = try #require(points.last { $0.step == 5 })
        #expect(changed.inState < read.inState, "a change makes them worthless")
    }

    @Test func inRealTimeThereIsResidentMemoryToo() async throws {
        let points = try await play(eventful, stage: .real()).timeline.points
        #expect(points.count >= 10)
        #expect(points.allSatisfy { $0.rss ?? .zero > .zero })
    }

    /// However long a run is: every second point goes when there are too many, never the last.
    @Test func thereAreNeverTooManyPoints() async throws {
        let steps = Array(repeating: "  - access: {of: shelf/kept-*, count: 100}", count: 900).joined(separator: "\n")
        let record = try await play(
            smallScenario.replacingOccurrences(of: "  - warning: critical", with: steps)
                .replacingOccurrences(of: "64KiB", with: "128B")
        )
        let points = record.timeline.points
        #expect(TimelineRecorder.mostPoints / 2...TimelineRecorder.mostPoints ~= points.count)
        #expect(points.first?.at == .zero)
        #expect(points.last?.step == 901)
    }

    @Test func livesFollowEachOther() {
        func point(_ seconds: Int, _ step: Int) -> Timeline.Point {
            Timeline.Point(
                at: .seconds(seconds),
                step: step,
                level: .normal,
                resident: .zero,
                clean: .zero,
                compressed: .zero,
                spilled: .zero,
                stored: .zero,
                rss: nil,
                accesses: 0,
                misses: 0
            )
        }
        var timeline = Timeline(
            points: [point(0, 1), point(2, 2)],
            marks: [.init(at: .zero, kind: .warning, text: "")]
        )
        timeline.append(timeline, after: .seconds(3), steps: 3)
        #expect(timeline.points == [point(0, 1), point(2, 2), point(3, 4), point(5, 5)])
        #expect(timeline.marks.map(\.at) == [.zero, .seconds(3)])
    }

    @Test func theCSVHasALineForEachPointAndEveryMark() async throws {
        let record = try await play(eventful)
        let lines = TimelineCSV.text(record.timeline).split(separator: "\n")
        #expect(lines[0] == TimelineCSV.columns.joined(separator: ",")[...])
        #expect(lines.count == record.timeline.points.count + 1)
        let columns = lines.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(columns.allSatisfy { $0.count == TimelineCSV.columns.count })
        let marks = columns.dropFirst().flatMap { $0[11].split(separator: " ") }
        #expect(marks == ["warning", "reclaim", "background", "reclaim", "foreground"])
        #expect(columns[1][8] == "", "not measured in virtual time")
    }
}

@Suite struct LatencyClassesTests {
    @Test(arguments: [
        (1, "≤ 4.0 KiB"), (4096, "≤ 4.0 KiB"), (4097, "≤ 64.0 KiB"), (1 << 20, "≤ 1.0 MiB"), (1 << 24, "≤ 16.0 MiB"),
        (1 << 28, "≤ 256.0 MiB"), (1 << 28 + 1, "> 256.0 MiB"),
    ])
    func valuesAreTalliedByTheirSize(byteCount: Int, title: String) {
        var classes = LatencyClasses()
        classes.record(nanoseconds: 5, byteCount: byteCount, times: 3)
        #expect(classes.classes.map(\.title) == [title])
        #expect(classes.classes.map(\.latencies.count) == [3])
    }

    @Test func severalAddUp() {
        var (left, right) = (LatencyClasses(), LatencyClasses())
        left.record(nanoseconds: 1, byteCount: 1)
        right.record(nanoseconds: 2, byteCount: 2)
        right.record(nanoseconds: 3, byteCount: 1 << 20)
        left.add(right)
        #expect(left.classes.map(\.latencies.count) == [2, 1])
        #expect(left.total.total == 6)
    }

    @Test func everyDurationIsInOneBucket() {
        var latencies = Latencies()
        #expect(latencies.buckets().isEmpty)
        for nanoseconds: Int64 in [1, 10, 11, 1000, 1_000_000_000, 17_000_000_000] {
            latencies.record(nanoseconds: nanoseconds)
        }
        let buckets = latencies.buckets()
        #expect(buckets.reduce(0) { $0 + $1.count } == 6)
        #expect(buckets.first?.upTo == 1e-9 && buckets.first?.count == 1)
        #expect(buckets.last?.count == 1)
        #expect((17.0...31.7).contains(buckets.last?.upTo ?? 0))
        // 10 ns is the end of its bucket, 11 ns is in the next.
        #expect(buckets.first { abs($0.upTo - 1e-8) < 1e-12 }?.count == 1)
        #expect(zip(buckets, buckets.dropFirst()).allSatisfy { abs($1.upTo / $0.upTo - 1.778) < 0.01 })
    }

    @Test func restoresAndEvictionsAreTalliedByTheSizeOfTheValue() async throws {
        let text = smallScenario.replacingOccurrences(
            of: "  - warning: critical",
            with: "  - warning: critical\n  - access: {of: shelf/**}"
        )
        let record = try await Simulation(try scenario(text), file: "test.yaml", stage: .virtual()).run()
        #expect(record.evictionsBySize.total.count == record.evictions.count)
        #expect(record.restoresBySize.total.count == record.tally.latencies[.restore]?.count)
        #expect(record.restoresBySize.classes.map(\.title) == ["≤ 64.0 KiB"])
    }
}
