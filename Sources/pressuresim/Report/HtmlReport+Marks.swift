import PressureKit
import ReportPages

/// What is marked on the curve of memory: levels, reclaims, and what happened at one moment.
extension HtmlReport {
    /// In ten pixels around their origin; they differ in shape, not in colour.
    static let glyphs: [Timeline.Mark.Kind: StaticString] = [
        .warning: "M0 -5L5 4H-5Z", .reclaim: "M0 5L-5 -4H5Z", .background: "M-4 -4H4V4H-4Z",
        .foreground: "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
        .relaunch: "M-5 -5L0 -1.5L5 -5L1.5 0L5 5L0 1.5L-5 5L-1.5 0Z",
    ]

    /// The times at which the level was above normal.
    private var levels: [(level: PressureLevel, start: Double, end: Double)] {
        var levels: [(level: PressureLevel, start: Double, end: Double)] = []
        for point in record.timeline.points {
            let at = point.at.seconds
            if !levels.isEmpty { levels[levels.count - 1].end = at }
            if point.level != levels.last?.level { levels.append((point.level, at, at)) }
        }
        return levels.filter { $0.level != .normal }
    }

    /// What the shading means, which has its level's name only where that has room.
    var levelLegend: [ChartFigure.Entry] {
        let levels = Set(levels.map(\.level))
        return (levels.contains(.warning) ? [.look(.warning, "level: warning")] : [])
            + (levels.contains(.critical) ? [.look(.critical, "level: critical, hatched")] : [])
    }

    /// A tint behind the curve for each level above normal, and its name above.
    func levelBands(_ x: Axis) -> [Html] {
        let levels = levels
        let labels = levels.map { span in
            LabelFit.Label(position: (x.position(of: span.start) + x.position(of: span.end)) / 2, text: "\(span.level)")
        }
        return zip(levels, labels).flatMap { span, label -> [Html] in
            let (start, end) = (x.position(of: span.start), x.position(of: span.end))
            // The narrowest level would be seen by nobody.
            let stop = max(end, start + 0.002)
            var parts = [
                Plot.band("level-\(span.level) faint", from: start, to: stop),
                Plot.lane("level-\(span.level)", from: start, to: stop, y: -26, height: 16),
            ]
            if span.level == .critical {
                parts.append(Plot.lane("hatch", from: start, to: stop, y: -13, height: 3))
            }
            if let fit = Self.fit(label, in: stop - start) {
                parts.append(
                    Plot.label(label.text, .class("strong middle\(fit)"), x: label.position, y: 0, dx: 0, dy: -14)
                )
            }
            return parts
        }
    }

    /// Where a label has room: everywhere (`""`), on wide screens only, or nowhere.
    private static func fit(_ label: LabelFit.Label, in part: Double) -> String? {
        let width = Double(label.text.count) * LabelFit.characterWidth
        if part * MarkRow.narrowWidth > width { return "" }
        return part * MarkRow.wideWidth > width ? " wide" : nil
    }

    /// A bar above the plot for each reclaim, as long as it took: what fell meanwhile, fell because of it. Those that would
    /// touch are one.
    func reclaimBars(_ x: Axis) -> [Html] {
        var bars: [(start: Double, end: Double)] = []
        for reclaim in record.reclaims.sorted(by: { $0.atSeconds < $1.atSeconds }) {
            let start = x.position(of: reclaim.atSeconds)
            let end = x.position(of: reclaim.atSeconds + reclaim.durationSeconds)
            if let last = bars.last, start <= last.end + 0.001 {
                bars[bars.count - 1].end = max(last.end, end)
            } else {
                bars.append((start, end))
            }
        }
        return bars.map { Plot.lane("reclaim", from: $0.start, to: $0.end, y: -5, height: 3) }
    }

    /// Those worth showing: reclaims have their bars.
    var shownMarks: [Timeline.Mark] {
        record.timeline.marks.filter { $0.kind != .reclaim || record.reclaims.isEmpty }
    }

    /// What is written at a mark: of a warning, the level that it brought.
    private static func word(of mark: Timeline.Mark) -> String {
        mark.kind == .warning && mark.text.contains("critical") ? "critical" : mark.kind.rawValue
    }

    /// A glyph and a word for each, and a line to its moment on the curve.
    func marks(_ x: Axis) -> MarkRow {
        var glyphs: [String: StaticString] = [:]
        let moments = shownMarks.map { mark in
            glyphs[Self.word(of: mark)] = Self.glyphs[mark.kind]
            return MarkLayout.Moment(position: x.position(of: mark.at.seconds), word: Self.word(of: mark))
        }
        return MarkRow(moments, glyphs: glyphs)
    }
}
