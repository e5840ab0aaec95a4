import Testing

@testable import ReportPages
@testable import SampleContent
@testable import pressuresim

@Suite struct TicksTests {
    @Test(
        arguments: [
            (10, 5, 2), (9.9, 5, 2), (10.1, 5, 5), (1, 4, 0.5), (0.3, 3, 0.1), (7e9, 4, 2e9), (0, 4, 1),
            (.infinity, 4, 1),
        ] as [(Double, Int, Double)]
    )
    func stepsAreOneTwoOrFiveTimesAPowerOfTen(length: Double, count: Int, step: Double) {
        #expect(abs(Ticks.step(for: length, count: count) - step) <= step * 1e-9)
    }

    @Test func noRangeGetsMoreTicksThanAskedFor() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let count = Int.random(in: 1...8, using: &random)
            let length =
                Double.random(in: 0.1...10, using: &random) * Double(1 << Int.random(in: 0...40, using: &random))
            let start = -Double.random(in: 0...1, using: &random) * length
            let end = start + length
            for (ticks, range) in [
                (Ticks.multiples(of: Ticks.step(for: length, count: count), from: start, to: end), start...end),
                (Ticks.bytes(from: start, to: end, count: count), start...end),
                (Ticks.multiples(of: Ticks.timeStep(for: length, count: count), from: 0, to: length), 0...length),
            ] {
                #expect(ticks.count <= count + 1, "\(ticks), seed 7")
                let slack = length * 1e-6
                #expect(ticks.allSatisfy { $0 >= range.lowerBound - slack && $0 <= range.upperBound + slack })
            }
        }
    }

    @Test func multiplesIncludeZeroAsZero() {
        #expect(Ticks.multiples(of: 0.1, from: -0.2, to: 0.2).contains(0))
        #expect(Ticks.multiples(of: 1, from: 2.5, to: 2.6).isEmpty)
    }

    @Test(
        arguments: [(3e-9, 2e-3, 8), (1e-6, 1e-6, 2), (1e-6, 1e-5, 2), (9.9e-7, 1.01e-5, 4)] as [(Double, Double, Int)]
    )
    func decadesEncloseTheirRange(lower: Double, upper: Double, count: Int) throws {
        let decades = Ticks.decades(from: lower, to: upper)
        #expect(decades.count == count)
        #expect(try #require(decades.first) <= lower * 1.0001)
        #expect(try #require(decades.last) >= upper * 0.9999)
    }

    @Test(arguments: [
        (0, "0"), (1.5, "1.5"), (1500, "1,500"), (25_000, "25 k"), (1.5e12, "1.5 T"), (0.025, "0.025"), (-2, "-2"),
        (.nan, "–"),
    ])
    func numeralsAreShort(value: Double, text: String) { #expect(Numeral.short(value) == text) }
}

@Suite struct AxisTests {
    @Test func positionsGoFromEndToEndAndNoFurther() {
        let linear = Axis.bytes(to: 100)
        #expect([-5, 0, 25, 100, 200].map(linear.position) == [0, 0, 0.25, 1, 1])
        let log = Axis.durations(from: 1e-6, to: 1e-2)
        #expect([0, 1e-6, 1e-4, 1e-2, 1].map { (log.position(of: $0) * 100).rounded() } == [0, 0, 50, 100, 100])
        #expect(Axis.bytes(from: -100, to: 100).position(of: 0) == 0.5)
        #expect(linear.position(of: .nan).isFinite)
    }

    @Test func labelsHaveTheirUnit() {
        #expect(Axis.bytes(to: 400 * 1_048_576).ticks.map(\.label) == ["0", "128 MiB", "256 MiB", "384 MiB"])
        // Below the line hangs what is on disk: there is no such thing as -1 MiB.
        #expect(Axis.bytes(from: -1_048_576, to: 1_048_576, ticks: 2).ticks.map(\.label) == ["1 MiB", "0", "1 MiB"])
        #expect(Axis.time(to: 12).ticks.map(\.label) == ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s"])
        #expect(Axis.time(to: 7200).ticks.map(\.label) == ["0 min", "30 min", "60 min", "90 min", "120 min"])
        #expect(Axis.time(to: 0.04).ticks.map(\.label) == ["0 ms", "10 ms", "20 ms", "30 ms", "40 ms"])
        #expect(
            Axis.durations(from: 2e-8, to: 0.9).ticks.map(\.label)
                == ["10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        )
        #expect(
            Axis.counts(from: 1000, to: 1_000_000).ticks.map(\.label) == ["1,000", "10,000", "100,000", "1,000,000"]
        )
        #expect(Axis.places(["a", "b"]).ticks.map(\.value) == [0.5, 1.5])
    }

    @Test func anAxisHasOneUnit() {
        #expect(Axis.time(to: 4.47, ticks: 9).ticks.map(\.label).suffix(3) == ["3.0 s", "3.5 s", "4.0 s"])
        #expect(
            Axis.bytes(to: 1.1 * 1_048_576, ticks: 4).ticks.map(\.label) == ["0", "0.5 MiB", "1.0 MiB"]
        )
        #expect(Axis.numbers(from: 0, to: 20_000).ticks.map(\.label) == ["0", "5 k", "10 k", "15 k", "20 k"])
        #expect(Axis.numbers(from: 0, to: 1.5, ticks: 3).ticks.map(\.label) == ["0", "0.5", "1.0", "1.5"])
        #expect(Axis.numbers(from: -0.5, to: 0.5, ticks: 2).ticks.map(\.label) == ["-0.5", "0", "0.5"])
        var random = SplitMix64(seed: 3)
        for _ in 0..<2000 {
            let end =
                Double.random(in: 1...10, using: &random)
                * Ticks.power(of: 10, Double(Int.random(in: -7...6, using: &random)))
            for axis in [Axis.time(to: end, ticks: 9), .bytes(from: -end / 3, to: end * 1e6, ticks: 7)] {
                let units = Set(axis.ticks.filter { $0.label != "0" }.map { $0.label.split(separator: " ").last })
                let labels = axis.ticks.filter { $0.value >= 0 }.map(\.label)
                #expect(units.count <= 1, "\(labels), seed 3")
                #expect(Set(labels).count == labels.count, "\(labels), seed 3")
            }
        }
    }

    @Test func anEmptyRangeStillHasALength() {
        for axis in [
            Axis.bytes(to: 0), .time(to: 0), .numbers(from: 3, to: 3), .durations(from: 0, to: 0), .places([]),
        ] {
            #expect(axis.upper > axis.lower)
            #expect((0...1).contains(axis.position(of: 3)))
        }
    }
}

@Suite struct PathDataTests {
    private let points = [PlotPoint(x: 0, y: 0), PlotPoint(x: 0.5, y: 1), PlotPoint(x: 1, y: 0.25)]

    @Test func linesGoFromPointToPointWithTheOriginBelow() {
        #expect(PathData.line(points).text == "M0 1000L500 0L1000 750")
        #expect(PathData.line([]).text.isEmpty)
    }

    @Test func areasGoBackAlongTheirLowerEdge() {
        let floor = points.map { PlotPoint(x: $0.x, y: 0) }
        #expect(PathData.area(upper: points, lower: floor).text == "M0 1000L500 0L1000 750L1000 1000L500 1000L0 1000Z")
        #expect(PathData.area(upper: [], lower: []).text.isEmpty)
    }

    @Test func stepsKeepTheirHeightToTheEnd() {
        #expect(PathData.steps(Array(points.prefix(2))).text == "M0 1000L500 1000L500 0L1000 0")
        #expect(PathData.steps([]).text.isEmpty)
    }

    @Test(arguments: [(0.0, "0"), (12.5, "12.5"), (100, "100"), (-0.001, "0"), (1.0 / 3, "0.33"), (.infinity, "0")])
    func numbersAreShort(value: Double, text: String) { #expect(PathData.number(value) == text) }
}

@Suite struct MarkLayoutTests {
    private func layout(_ marks: [(Double, String)], _ width: Double) -> MarkLayout {
        MarkLayout(marks.map { MarkLayout.Moment(position: $0.0, word: $0.1) }, width: width)
    }

    @Test func whatHasRoomStandsAtItsMoment() {
        let far = layout([(0.1, "warning"), (0.5, "critical"), (0.9, "background")], 640)
        #expect(far.isLevel)
        #expect(far.places.map(\.shown) == [0.1, 0.5, 0.9])
        #expect(layout([], 280).places.isEmpty)
        // A word at the edge stays inside.
        let edge = layout([(0, "foreground"), (1, "foreground")], 640)
        #expect(edge.places[0].shown * 640 >= 5 * 7.5)
        #expect(edge.places[1].shown * 640 <= 640 - 5 * 7.5)
    }

    @Test func whatHasNoRoomIsMovedBothWays() {
        let near = layout([(0.5, "warning"), (0.51, "critical")], 640)
        #expect(near.isLevel)
        #expect(near.places.map(\.word) == ["warning", "critical"])
        #expect(near.places[0].shown < 0.5 && near.places[1].shown > 0.51)
        let many = layout((0..<8).map { (0.5 + Double($0) / 100, "word \($0)") }, 280)
        #expect(!many.isLevel, "eight words of six letters are wider than a phone")
        #expect(many.places.map(\.count) == Array(repeating: 1, count: 8))
    }

    @Test func tooManyOfOneWordBecomeOneWithTheirNumber() {
        let marks = (0..<500).map { (Double($0) / 500, $0 == 250 ? "critical" : "warning") }
        for width in [280.0, 640] {
            let crowd = layout(marks, width)
            #expect(crowd.places.reduce(0) { $0 + $1.count } == 500)
            #expect(crowd.places.contains { $0.text == "critical" }, "the one that matters is never hidden")
            #expect(crowd.places.contains { $0.text.hasPrefix("warning ×") })
        }
    }

    @Test(arguments: UInt64(1)...200) func nothingTouchesAndNothingIsOutside(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let words = ["warning", "critical", "background", "foreground", "relaunch", "reclaim"]
        let count = Int.random(in: 1...60, using: &random)
        let middle = Double.random(in: 0...1, using: &random)
        let spread = Double.random(in: 0...1, using: &random)
        let marks = (0..<count).map { _ -> (Double, String) in
            let position = middle + Double.random(in: -spread...spread, using: &random)
            return (min(max(position, 0), 1), words[Int.random(in: 0..<words.count, using: &random)])
        }.sorted { $0.0 < $1.0 }
        for width in [280.0, 640] {
            let crowd = layout(marks, width)
            #expect(crowd.places.reduce(0) { $0 + $1.count } == count)
            for place in crowd.places { #expect(-1e-9...1 + 1e-9 ~= place.shown, "seed \(seed)") }
            for (one, next) in zip(crowd.places, crowd.places.dropFirst()) {
                let least = crowd.isLevel ? Double(one.text.count + next.text.count) * 7.5 / 2 : 17
                #expect((next.shown - one.shown) * width >= least - 1e-6, "seed \(seed)")
            }
        }
    }
}

@Suite struct ThinningTests {
    @Test func fewPointsAllStay() {
        #expect(Thinning.keep([[1, 2, 3]], limit: 10) == [0, 1, 2])
        #expect(Thinning.keep([], limit: 10).isEmpty)
        #expect(Thinning.evenly(3, limit: 10) == [0, 1, 2])
    }

    @Test(arguments: UInt64(1)...20)
    func noPeakAndNoTroughIsLost(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 500...5000, using: &random)
        let series = (0..<3).map { _ in (0..<count).map { _ in Double.random(in: 0...1, using: &random) } }
        let limit = Int.random(in: 50...400, using: &random)
        let kept = Thinning.keep(series, limit: limit)
        #expect(kept.count <= limit + 2, "seed \(seed)")
        #expect(kept == kept.sorted() && Set(kept).count == kept.count)
        #expect(kept.first == 0 && kept.last == count - 1)
        for values in series {
            #expect(kept.map { values[$0] }.max() == values.max(), "seed \(seed)")
            #expect(kept.map { values[$0] }.min() == values.min(), "seed \(seed)")
        }
    }

    @Test func evenlyMeansFromEndToEnd() {
        #expect(Thinning.evenly(101, limit: 5) == [0, 25, 50, 75, 100])
    }
}
