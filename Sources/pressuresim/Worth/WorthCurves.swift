import PressureKit
import ReportPages

/// One cell over time: reads and use of the limit, of both contenders.
struct WorthCurves {
    let result: WorthResult
    /// Unique on the page.
    let number: Int
    let plan: WorthPlan

    /// Whether there is nothing to be drawn.
    static func isEmpty(_ result: WorthResult) -> Bool {
        WorthContender.allCases.allSatisfy { result.typical($0)?.curve.readsPerSecond.isEmpty ?? true }
    }

    var html: Html {
        .group {
            figure(
                "reads",
                "Reads a second: \(result.kind.rawValue), \(result.cell.title)",
                { $0.readsPerSecond },
                Axis.numbers(from: 0, to: most { $0.readsPerSecond }),
                { Quantities.count(Int($0)) }
            )
            figure(
                "use",
                "Use of the limit: \(result.kind.rawValue), \(result.cell.title)",
                { $0.usageBytes.map(Double.init) },
                Axis.bytes(to: Double(result.cell.limit.bytes)),
                Quantities.bytes
            )
        }
    }

    private func curve(_ contender: WorthContender) -> WorthCurve? { result.typical(contender)?.curve }

    private var curves: [WorthCurve] { WorthContender.allCases.compactMap(curve) }

    private func most(_ values: (WorthCurve) -> [Double]) -> Double { max(curves.flatMap(values).max() ?? 1, 1) * 1.05 }

    /// How long is drawn, in seconds.
    private var duration: Double {
        curves.map { Double($0.readsPerSecond.count) * $0.step }.max() ?? 1
    }

    private func figure(
        _ name: String,
        _ title: String,
        _ values: (WorthCurve) -> [Double],
        _ y: Axis,
        _ text: (Double) -> String
    ) -> Html {
        let x = Axis.time(to: duration)
        let id = "curve-\(name)-\(number)"
        var layers = [Plot.band("track", from: 0, to: x.position(of: plan.times.warm))]
        for contender in WorthContender.allCases {
            guard let curve = curve(contender) else { continue }
            let points = values(curve).enumerated().map { index, value in
                PlotPoint(x: x.position(of: (Double(index) + 1) * curve.step), y: y.position(of: value))
            }
            layers.append(Plot.path("line-\(contender.tone)", .line(points)))
        }
        let plot = Plot(
            id: "\(id)-chart",
            title: title,
            description: description(values, text),
            height: 180,
            x: x,
            y: y,
            layers: layers
        )
        return ChartFigure(
            id: id,
            title: title,
            caption: .nothing,
            legend: WorthPage.legend(.line),
            chart: plot.html,
            table: table(title, values, text, x)
        ).html
    }

    private func description(_ values: (WorthCurve) -> [Double], _ text: (Double) -> String) -> String {
        WorthContender.allCases.compactMap { contender in
            guard let all = curve(contender).map(values), let least = all.min(), let most = all.max() else {
                return nil
            }
            return "\(WorthReport.name(contender, result)): from \(text(least)) to \(text(most))."
        }.joined(separator: " ")
    }

    private func table(
        _ title: String,
        _ values: (WorthCurve) -> [Double],
        _ text: (Double) -> String,
        _ x: Axis
    ) -> DataTable {
        var table = DataTable(
            caption: title,
            isCaptionHidden: true,
            columns: [.text("Time")] + WorthContender.allCases.map { .number(WorthReport.name($0, result)) }
        )
        let columns = WorthContender.allCases.map { curve($0).map(values) ?? [] }
        let step = curves.first?.step ?? 1
        for index in 0..<(columns.map(\.count).max() ?? 0) {
            let seconds = (Double(index) + 1) * step
            table.add(
                [Quantities.duration(seconds)] + columns.map { index < $0.count ? text($0[index]) : "–" },
                position: x.position(of: seconds)
            )
        }
        return table
    }
}
