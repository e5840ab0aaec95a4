import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// A recording played through the library's own decisions, as lines and as JSON. The same recording gives the same
/// text, byte for byte, on every machine.
struct Replay: Encodable {
    /// Something worth telling.
    struct Row: Hashable, Sendable, Encodable {
        /// Nanoseconds since the recording began.
        var atNanoseconds: Int64
        /// `level`, `reclaim_wanted`, or `reclaim_ended`.
        var kind: String
        /// The level from here on.
        var level: String
        /// How bad it is, 0 … 1.
        var score: Double
        /// The cause, or what a reclaim did.
        var text: String
        /// The bytes wanted or returned, where there is a number.
        var bytes: Int?
    }

    var formatVersion = 1
    var command = "replay"
    /// The recording.
    var file: String
    var rows: [Row]
    var samples: Int
    /// From the first event to the last.
    var nanoseconds: Int64
    /// How often the level changed.
    var levelChanges: Int
    /// How often reclaim was asked for.
    var reclaimsWanted: Int
    /// The level at the end.
    var level: String
    /// The worst score, 0 … 1.
    var worstScore: Double

    /// Plays a whole recording.
    ///
    /// - Throws: `PressureError` when the thresholds contradict each other.
    init(_ recording: SignalRecording, file: String, thresholds: PressureThresholds = .init()) throws {
        var replay = try SignalReplay(recording, thresholds: thresholds)
        self.file = file
        rows = []
        (samples, levelChanges, reclaimsWanted, worstScore) = (0, 0, 0, 0)
        level = "\(PressureLevel.normal)"
        nanoseconds = (recording.events.last?.at.nanoseconds ?? 0) - (recording.events.first?.at.nanoseconds ?? 0)
        while let step = replay.step() {
            if case .sample = step.event { samples += 1 }
            level = "\(step.level)"
            worstScore = max(worstScore, step.score)
            add(step)
        }
    }

    private mutating func add(_ step: SignalReplay.Step) {
        func row(_ kind: String, _ text: String, _ bytes: Int?) -> Row {
            Row(
                atNanoseconds: step.at.nanoseconds,
                kind: kind,
                level: "\(step.level)",
                score: (step.score * 1e4).rounded() / 1e4,
                text: text,
                bytes: bytes
            )
        }
        switch step.event {
        case .reclaim(let level, let duration, let returned, _):
            let text = "reclaim for \(level) ended: \(returned) returned in \(Quantities.duration(duration.seconds))"
            rows.append(row("reclaim_ended", text, returned.bytes))
        case .freed, .sample: break
        }
        guard let decision = step.decision else { return }
        if decision.levelChanged {
            levelChanges += 1
            rows.append(row("level", "\(decision.cause)", nil))
        }
        if let reclaim = decision.reclaim {
            reclaimsWanted += 1
            let amount = reclaim.bytes.map { "\($0)" } ?? "as much as the policy says"
            let why = decision.levelChanged ? "" : "; \(decision.cause)"
            rows.append(row("reclaim_wanted", "reclaim wanted: \(amount)\(why)", reclaim.bytes?.bytes))
        }
    }
}

extension Replay {
    /// The whole text, without a line end behind the last line.
    func text(_ style: Style) -> String {
        var table = TextTable([.right, .left, .left])
        for row in rows { table.add([Self.time(row.atNanoseconds), row.level, row.text]) }
        let lines = zip(rows, table.lines).map { row, line in
            switch (row.kind, row.level) {
            case ("level", "normal"): style.good(line)
            case ("level", _): style.bad(line)
            default: line
            }
        }
        return ([style.bold(file)] + lines + [summary]).joined(separator: "\n")
    }

    private var summary: String {
        let samples = Quantities.count(samples, "sample")
        let changes = Quantities.count(levelChanges, "level change")
        let reclaims = Quantities.count(reclaimsWanted, "reclaim")
        return """
            \(samples) in \(Self.time(nanoseconds)): \(changes), \(reclaims) wanted, worst score \
            \(Quantities.fixed(worstScore, 2)), ends at \(level)
            """
    }

    private static func time(_ nanoseconds: Int64) -> String { Quantities.fixed(Double(nanoseconds) / 1e9, 3) + " s" }
}
