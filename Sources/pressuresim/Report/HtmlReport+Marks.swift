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
        if part * narrowWidth > width { return "" }
        return part * wideWidth > width ? " wide" : nil
    }

    /// A plot's width on a phone and on a desk, in pixels.
    private static let narrowWidth = 280.0
    private static let wideWidth = 640.0
    private static let glyphWidth = 13.0

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

    /// Those worth showing. Reclaims have their bars, and a mark that lies on another of its kind says nothing new.
    var shownMarks: [Timeline.Mark] {
        let end = max(record.duration.seconds, record.timeline.points.last?.at.seconds ?? 0)
        var last: [Timeline.Mark.Kind: Double] = [:]
        return record.timeline.marks.filter { mark in
            guard mark.kind != .reclaim || record.reclaims.isEmpty else { return false }
            if let before = last[mark.kind], mark.at.seconds - before < end / 250 { return false }
            last[mark.kind] = mark.at.seconds
            return true
        }
    }

    /// What is written at a mark: of a warning, the level that it brought.
    private static func label(of mark: Timeline.Mark) -> String {
        mark.kind == .warning && mark.text.contains("critical") ? "critical" : mark.kind.rawValue
    }

    /// A glyph, a word where it has room, and a line down to the curve.
    func marks(_ x: Axis) -> [Html] {
        let marks = shownMarks
        let labels = marks.map { LabelFit.Label(position: x.position(of: $0.at.seconds), text: Self.label(of: $0)) }
        let onPhones = LabelFit.fitting(labels, width: Self.narrowWidth)
        let onDesks = LabelFit.fitting(labels, width: Self.wideWidth)
        var shift = 0.0
        return marks.indices.flatMap { index -> [Html] in
            let place = labels[index].position
            var parts: [Html] = []
            if marks.count <= 40 { parts.append(Plot.segment("rulemark", from: (place, 0), to: (place, 1))) }
            // Two at one moment stand side by side.
            let isCrowded = index > 0 && (place - labels[index - 1].position) * Self.wideWidth < Self.glyphWidth
            shift = isCrowded ? shift + Self.glyphWidth : 0
            if let glyph = Self.glyphs[marks[index].kind] {
                parts.append(Plot.glyph("fill-ink", glyph, x: place, y: -36, dx: shift))
            }
            guard onDesks[index] || onPhones[index] else { return parts }
            let fit = onPhones[index] ? (onDesks[index] ? "" : " narrow") : " wide"
            let end = place < 0.06 ? "" : place > 0.94 ? " value" : " middle"
            parts.append(
                Plot.label(labels[index].text, .class("mark-label\(end)\(fit)"), x: place, y: 0, dx: 0, dy: -47)
            )
            return parts
        }
    }
}
