import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// One of the processes that play a scenario with `relaunch` steps: each plays up to the next of them, saves its state,
/// and is killed; the next one restores it.
struct Life: Sendable {
    /// Counts from 0.
    var number: Int
    /// Whether it is the last one, which is this process, and reports.
    var isLast: Bool
    /// Where the lives leave things to each other.
    var directory: String
    /// What the ones before left, the newest last.
    var before: [LifeRecord] = []

    /// The library's saved state.
    var stateDirectory: String { "\(directory)/state" }

    /// Which version each value has that was changed in an earlier life.
    var versions: [String: Int] { before.last?.versions ?? [:] }

    /// Where a life leaves its record.
    static func recordPath(_ number: Int, in directory: String) -> String { "\(directory)/life-\(number).json" }

    /// Reads what the lives before `number` left.
    static func records(before number: Int, in directory: String) throws -> [LifeRecord] {
        try (0..<number).map { try record($0, in: directory) }
    }

    /// Reads what one life left.
    static func record(_ number: Int, in directory: String) throws -> LifeRecord {
        let data = try Data(contentsOf: URL(fileURLWithPath: recordPath(number, in: directory)))
        return try JSONDecoder().decode(LifeRecord.self, from: data)
    }
}

/// What one life hands to the next, beside the saved state.
struct LifeRecord: Codable, Sendable {
    /// A step of the timeline.
    struct Step: Codable, Sendable {
        var number: Int?
        var title: String
        var startSeconds: Double
        var durationSeconds: Double
        var outcome: String
        var phase: String?
    }

    var steps: [Step]
    var durationSeconds: Double
    var losses: [String: String]
    var failures: Int
    var complaints: [String]
    /// The newest version of each value that was changed.
    var versions: [String: Int]
    /// How many caches were saved.
    var savedCaches: Int
    /// What it noted in the event log, if that was asked for.
    var events: [EventLog.Event] = []
    var timeline = Timeline()
}

extension LifeRecord {
    /// What a run has recorded.
    init(_ record: RunRecord, versions: [String: Int], savedCaches: Int, events: [EventLog.Event] = []) {
        self.events = events
        timeline = record.timeline
        steps = record.steps.map { step in
            Step(
                number: step.number,
                title: step.title,
                startSeconds: step.start.seconds,
                durationSeconds: step.duration.seconds,
                outcome: step.outcome,
                phase: step.phase
            )
        }
        durationSeconds = record.duration.seconds
        losses = Dictionary(record.tally.losses.map { ($0.path, $0.reason) }) { first, _ in first }
        failures = record.tally.failures
        complaints = record.tally.complaints
        self.versions = versions
        self.savedCaches = savedCaches
    }
}

extension [Step] {
    /// The parts between `relaunch` steps.
    var lives: [[Step]] {
        split(omittingEmptySubsequences: false) { if case .relaunch = $0.action { true } else { false } }.map(
            Array.init
        )
    }

    /// How many steps come before those of a life, `relaunch` steps included.
    func steps(before life: Int) -> Int { lives.prefix(life).reduce(0) { $0 + $1.count + 1 } }
}

extension RunRecord {
    /// Puts the steps, losses and failures of earlier lives before this one's. Figures of accesses and reclaims are the
    /// last life's alone.
    mutating func prepend(_ lives: [LifeRecord]) {
        var earlier: [StepRecord] = []
        var before = Timeline()
        var (offset, number) = (0.0, 0)
        // A phase goes on in the next life.
        var phase: String?
        for (index, life) in lives.enumerated() {
            earlier += life.steps.map { step in
                StepRecord(
                    number: step.number.map { $0 + number },
                    title: step.title,
                    start: .seconds(offset + step.startSeconds),
                    duration: .seconds(step.durationSeconds),
                    outcome: step.outcome,
                    reclaim: nil,
                    phase: step.phase ?? phase
                )
            }
            before.append(life.timeline, after: .seconds(offset), steps: number)
            phase = earlier.last?.phase ?? phase
            number += life.steps.compactMap(\.number).max() ?? 0
            offset += life.durationSeconds
            number += 1
            before.marks.append(.init(at: .seconds(offset), kind: .relaunch, text: "process \(index + 1) killed"))
            earlier.append(
                StepRecord(
                    number: number,
                    title: "relaunch",
                    start: .seconds(offset),
                    duration: .zero,
                    outcome: "\(Quantities.count(life.savedCaches, "cache")) saved, process \(index + 1) killed",
                    reclaim: nil,
                    phase: phase
                )
            )
            tally.losses += life.losses.map { .init(path: $0.key, reason: $0.value) }
            tally.failures += life.failures
            tally.complaints = Array((life.complaints + tally.complaints).prefix(4))
        }
        for index in steps.indices {
            steps[index].start += .seconds(offset)
            steps[index].number = steps[index].number.map { $0 + number }
            steps[index].phase = steps[index].phase ?? phase
        }
        steps = earlier + steps
        before.append(timeline, after: .seconds(offset), steps: number)
        timeline = before
        duration += .seconds(offset)
    }
}
