import PressureKit
import ReportPages

/// What each of several processes below one limit held over time.
extension HtmlReport {
    /// So many moments are drawn at most, and so many are told in the table.
    private static let drawn = 240
    private static let told = 40

    var processes: Html {
        let curves = record.heldByProcess
        guard !curves.isEmpty, record.timeline.points.count > 1 else { return .nothing }
        return ChartFigure(
            id: "processes-figure",
            title: "What each process held",
            caption: .text(
                "Values in memory. \(record.neighbourWords ?? ""). A curve that ends is of a process that did."
            ),
            legend: curves.map { .init(tone: Self.tone($0), look: .line, text: "process \($0.number)") },
            chart: plot(curves).html,
            table: table(curves)
        ).html
    }

    /// There are as many tones as there may be processes.
    private static func tone(_ curve: HeldCurve) -> Tone { Tone.allCases[(curve.number - 1) % Tone.allCases.count] }

    private var time: Axis {
        let last = record.timeline.points.map(\.at.seconds).max() ?? 0
        return Axis.time(to: max(last, record.duration.seconds))
    }

    private func plot(_ curves: [HeldCurve]) -> Plot {
        let points = record.timeline.points
        let x = time
        let y = Axis.bytes(to: max(Double(curves.compactMap { $0.most?.bytes }.max() ?? 0), 1) * 1.05)
        let moments = Thinning.evenly(points.count, limit: Self.drawn)
        let layers = curves.map { curve in
            let line = moments.compactMap { index -> PlotPoint? in
                guard let held = curve.held[index] else { return nil }
                return PlotPoint(
                    x: x.position(of: points[index].at.seconds),
                    y: y.position(of: Double(held.bytes))
                )
            }
            return Plot.path("line-\(Self.tone(curve))", .line(line))
        }
        return Plot(
            id: "processes-chart",
            title: "Values in memory of each process over time",
            description: record.neighbourWords ?? "",
            height: 220,
            x: x,
            y: y,
            layers: layers
        )
    }

    private func table(_ curves: [HeldCurve]) -> DataTable {
        let points = record.timeline.points
        let x = time
        var table = DataTable(
            caption: "Values in memory of each process",
            isCaptionHidden: true,
            columns: [.number("Time")] + curves.map { .number("Process \($0.number)") }
        )
        for index in Thinning.evenly(points.count, limit: Self.told) {
            let seconds = points[index].at.seconds
            let cells = [Quantities.fixed(seconds, 2) + " s"] + curves.map { $0.held[index].map { "\($0)" } ?? "–" }
            table.add(moment: cells, position: x.position(of: seconds))
        }
        return table
    }
}
