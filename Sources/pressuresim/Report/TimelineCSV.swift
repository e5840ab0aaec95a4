import Foundation
import PressureKit
import ReportPages

/// The curve of a run as comma-separated values, a line for each point. `Scenarios/README.md` documents the columns.
enum TimelineCSV {
    /// The names of the columns, in order. One more follows for each further process that played.
    static let columns = [
        "seconds", "step", "level", "resident_bytes", "clean_bytes", "compressed_bytes", "spilled_bytes",
        "stored_bytes", "rss_bytes", "accesses", "misses", "marks", "copied_bytes", "reloadable_bytes", "state_bytes",
    ]

    /// The text, with a head line. A column that was not measured is empty; marks stand at the first point that is not
    /// before them, or at the last.
    static func text(_ timeline: Timeline) -> String {
        var marks = timeline.marks.sorted { $0.at < $1.at }[...]
        let processes = timeline.points.map(\.neighbours.count).max() ?? 0
        let all = columns + (0..<processes).map { "process_\($0 + 2)_bytes" }
        var lines = [all.joined(separator: ",")]
        for (index, point) in timeline.points.enumerated() {
            let isLast = index == timeline.points.count - 1
            let here = marks.prefix { isLast || $0.at <= point.at }
            marks.removeFirst(here.count)
            lines.append(line(point, here.map(\.kind.rawValue), processes))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ point: Timeline.Point, _ marks: [String], _ processes: Int) -> String {
        let held = (0..<processes).map { $0 < point.neighbours.count ? point.neighbours[$0] : nil }
        let values = [
            Quantities.fixed(Double(point.at.nanoseconds) / 1e9, 6),
            "\(point.step)",
            "\(point.level)",
            "\(point.resident.bytes)",
            "\(point.clean.bytes)",
            "\(point.compressed.bytes)",
            "\(point.spilled.bytes)",
            "\(point.stored.bytes)",
            point.rss.map { "\($0.bytes)" } ?? "",
            "\(point.accesses)",
            "\(point.misses)",
            marks.joined(separator: " "),
            "\(point.copied.bytes)",
            "\(point.reloadable.bytes)",
            "\(point.inState.bytes)",
        ]
        return (values + held.map { $0.map { "\($0.bytes)" } ?? "" }).joined(separator: ",")
    }
}
