import PressureKit
import ReportPages

/// What `watch` shows at one moment. Pure: the same votes give the same text.
struct WatchFrame: Sendable {
    /// Since the watching began.
    var elapsed: Duration
    var level: PressureLevel
    /// How bad it is, 0 … 1.
    var score: Double
    /// The bytes left of the limit that binds most.
    var headroom: Headroom?
    /// What each source says; those that have never spoken are missing.
    var votes: [PressureClassifier.Vote]
    /// The last few decisions, oldest first.
    var history: [Entry] = []

    /// Something that was decided.
    struct Entry: Hashable, Sendable {
        var at: Duration
        var cause: PressureCause
        /// The bytes wanted; `nil` when none were, or no number is known.
        var wanted: ByteCount?

        var text: String { "\(WatchFrame.time(at))  \(cause)" + (wanted.map { "; \($0) wanted" } ?? "") }
    }

    /// The whole view, for a terminal of a width. What does not fit is cut.
    func lines(width: Int, style: Style) -> [String] {
        var table = TextTable([.left, .left, .left, .left])
        for vote in votes {
            guard let reading = vote.reading else { continue }
            let origin = "\(reading.origin.rawValue) \(reading.source)"
            table.add(["\(vote.level)", Self.bar(vote.score), origin, Self.text(vote, reading)])
        }
        let rows = zip(votes.filter { $0.reading != nil }, table.lines).map { vote, line in
            vote.level > .normal ? style.bad(Self.cut(line, width)) : Self.cut(line, width)
        }
        let past = history.map { style.dim(Self.cut($0.text, width)) }
        return [style.bold(Self.cut(summary, width)), ""] + rows + (past.isEmpty ? [] : [""] + past)
    }

    /// The moment in one line, for a pipe or a log.
    var line: String {
        let leader = votes.filter { $0.reading != nil }.max { ($0.level, $0.score) < ($1.level, $1.score) }
        guard let leader, let reading = leader.reading else { return summary }
        return "\(summary); \(reading.origin.rawValue) \(reading.source) says \(leader.level)"
    }

    private var summary: String {
        var text = "\(Self.time(elapsed))  \(level), score \(Quantities.fixed(score, 2))"
        if let headroom { text += ", \(headroom.available) of \(headroom.limit) left" }
        return text
    }

    /// A reading's raw numbers.
    private static func text(_ vote: PressureClassifier.Vote, _ reading: SignalReading) -> String {
        switch reading.measure {
        case .headroom(let headroom):
            var text = "\(headroom.available) of \(headroom.limit) left"
            if let bands = vote.bands { text += ", warns at \(bands.warningEnter)" }
            if let time = vote.exhaustion { text += ", all gone in \(Quantities.duration(time.seconds))" }
            return text
        case .demand(let level, let bytes):
            return "asks for \(level)" + (bytes.map { ", \($0)" } ?? "")
        case .stall(let stall):
            let totals = stall.totals
            let full = totals.full.map { ", all for \(Quantities.duration(Double($0) / 1e6))" } ?? ""
            let share = Quantities.fixed(Double(totals.someAverage) / 100, 2)
            return """
                some stalled for \(Quantities.duration(Double(totals.some) / 1e6))\(full) so far, \(share) % of the last \
                10 s\(stall.isArmed ? ", armed" : "")
                """
        case .events(let counters):
            return "high \(counters.high), max \(counters.max), oom \(counters.oom), oom_kill \(counters.oomKill)"
        }
    }

    /// The score as a bar of twelve cells, the thirds marked.
    private static func bar(_ score: Double) -> String {
        let full = Int((min(max(score, 0), 1) * 12).rounded())
        return (0..<12).map { cell in cell < full ? "█" : cell.isMultiple(of: 4) ? "┊" : "·" }.joined()
    }

    private static func time(_ duration: Duration) -> String { Quantities.fixed(duration.seconds, 1) + " s" }

    /// A line that is cut says so.
    private static func cut(_ line: String, _ width: Int) -> String {
        line.count <= width ? line : line.prefix(max(width - 1, 0)) + "…"
    }
}
