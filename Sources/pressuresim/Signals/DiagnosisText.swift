import PressureKit
import ReportPages

/// The doctor's findings in words.
struct DiagnosisText {
    var diagnosis: Diagnosis
    var style: Style

    /// The whole text, without a line end behind the last line.
    var text: String {
        let sections = [
            ("Limits, the one that binds most first", limits),
            ("Signals", signals),
            ("What would fire now", firing),
            ("What would help", remedies),
            ("Where values would be spilled", spill),
        ]
        return sections.filter { !$0.1.isEmpty }
            .map { title, lines in ([style.bold(title)] + lines.map { "  \($0)" }).joined(separator: "\n") }
            .joined(separator: "\n\n")
    }

    private var limits: [String] {
        var table = TextTable([.left, .left, .right, .left])
        for vote in diagnosis.limits {
            guard let reading = vote.reading, let headroom = reading.headroom else { continue }
            let share = Quantities.percent(Double(headroom.available.bytes) / Double(headroom.limit.bytes))
            let numbers = "\(headroom.available) of \(headroom.limit) left"
            table.add([reading.origin.rawValue, numbers, share, reading.source])
        }
        return table.lines.isEmpty ? [style.bad("none can be seen")] : table.lines
    }

    private var signals: [String] {
        var table = TextTable([.left, .left, .left])
        for status in diagnosis.statuses {
            table.add([status.state.rawValue, status.origin.rawValue, "\(status.source): \(status.detail)"])
        }
        return zip(diagnosis.statuses, table.lines).map { status, line in
            switch status.state {
            case .unavailable: style.dim("✗ \(line)")
            case .available: "· " + line
            case .armed, .verified: style.good("✓ ") + line
            }
        }
    }

    private var firing: [String] {
        let loud = diagnosis.votes.filter { $0.level > .normal }.compactMap { vote in
            vote.reading.map { style.bad("\(vote.level): \($0.origin.rawValue) \($0.source)") }
        }
        var lines = loud.isEmpty ? ["nothing: normal, score \(Quantities.fixed(diagnosis.score, 2))"] : loud
        for vote in diagnosis.limits.prefix(1) {
            guard let bands = vote.bands, let reading = vote.reading, let headroom = reading.headroom else { continue }
            lines.append(
                "\(reading.source) warns at \(bands.warningEnter) left\(toGo(headroom, bands.warningEnter)) and is critical "
                    + "at \(bands.criticalEnter)\(toGo(headroom, bands.criticalEnter))"
            )
        }
        return lines
    }

    private func toGo(_ headroom: Headroom, _ threshold: ByteCount) -> String {
        headroom.available > threshold ? " (\(headroom.available - threshold) to go)" : " (crossed)"
    }

    /// Each piece of advice once, with all the signals that it is for.
    private var remedies: [String] {
        var order: [String] = []
        var sources: [String: [String]] = [:]
        for status in diagnosis.statuses {
            guard let remedy = status.remedy else { continue }
            if sources[remedy] == nil { order.append(remedy) }
            sources[remedy, default: []].append(status.source)
        }
        return order.map { "\((sources[$0] ?? []).joined(separator: ", ")): \($0)" }
    }

    private var spill: [String] {
        switch diagnosis.spill {
        case .directory(let path, let from): ["\(path) (\(from))"]
        case .refused(let message): [style.bad(message)]
        }
    }
}

/// The same for programs.
struct DiagnosisJSON: Encodable {
    struct SignalPart: Encodable {
        var origin: String
        var source: String
        var state: String
        var detail: String
        var remedy: String?
    }

    var formatVersion = 1
    var command = "doctor"
    var level: String
    var score: Double
    var availableBytes: Int?
    var limitBytes: Int?
    /// The source of the limit that binds most.
    var binding: String?
    var signals: [SignalPart]
    var readings: [VoteJSON]
    var spillDirectory: String?
    /// Why values cannot be spilled.
    var spillRefusal: String?

    init(_ diagnosis: Diagnosis) {
        level = "\(diagnosis.level)"
        score = diagnosis.score
        availableBytes = diagnosis.headroom?.available.bytes
        limitBytes = diagnosis.headroom?.limit.bytes
        binding = diagnosis.limits.first?.reading?.source
        signals = diagnosis.statuses.map {
            SignalPart(
                origin: $0.origin.rawValue,
                source: $0.source,
                state: $0.state.rawValue,
                detail: $0.detail,
                remedy: $0.remedy
            )
        }
        readings = diagnosis.votes.compactMap(VoteJSON.init)
        switch diagnosis.spill {
        case .directory(let path, _): spillDirectory = path
        case .refused(let message): spillRefusal = message
        }
    }
}
