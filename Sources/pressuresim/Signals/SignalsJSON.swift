import PressureKit

/// A source's last word, for programs.
struct VoteJSON: Encodable {
    var origin: String
    var source: String
    var level: String
    var score: Double
    var availableBytes: Int?
    var limitBytes: Int?
    var warningBytes: Int?
    var criticalBytes: Int?
    /// In what time all is gone as things go.
    var exhaustionSeconds: Double?
    var stalledSeconds: Double?

    init?(_ vote: PressureClassifier.Vote) {
        guard let reading = vote.reading else { return nil }
        origin = reading.origin.rawValue
        source = reading.source
        level = "\(vote.level)"
        score = vote.score
        availableBytes = reading.headroom?.available.bytes
        limitBytes = reading.headroom?.limit.bytes
        warningBytes = vote.bands?.warningEnter.bytes
        criticalBytes = vote.bands?.criticalEnter.bytes
        exhaustionSeconds = vote.exhaustion?.seconds
        if case .stall(let stall) = reading.measure { stalledSeconds = Double(stall.totals.some) / 1e6 }
    }
}

/// What `watch` saw last.
struct WatchJSON: Encodable {
    struct Decision: Encodable {
        var atSeconds: Double
        var levelBefore: String
        var levelAfter: String
        var cause: String
        var wantedBytes: Int?
    }

    var formatVersion = 1
    var command = "watch"
    var seconds: Double
    var level: String
    var score: Double
    var availableBytes: Int?
    var limitBytes: Int?
    var signals: [VoteJSON]
    var decisions: [Decision]

    init(_ frame: WatchFrame) {
        seconds = frame.elapsed.seconds
        level = "\(frame.level)"
        score = frame.score
        availableBytes = frame.headroom?.available.bytes
        limitBytes = frame.headroom?.limit.bytes
        signals = frame.votes.compactMap(VoteJSON.init)
        decisions = frame.history.map { entry in
            Decision(
                atSeconds: entry.at.seconds,
                levelBefore: "\(entry.cause.levelBefore)",
                levelAfter: "\(entry.cause.levelAfter)",
                cause: "\(entry.cause)",
                wantedBytes: entry.wanted?.bytes
            )
        }
    }
}
