import PressureKit

/// One run of the bench: everything measured, one thing after the other, on one thread.
struct Bench: Sendable {
    var plan: BenchPlan
    /// Of files; `nil` for the default.
    var corpus: String?
    /// Where the library spills and the limits write.
    var directory: String
    var progress: Progress = .quiet
    /// What is known so far, for whoever interrupts.
    let board = BenchBoard()

    /// Blocks until all is measured.
    ///
    /// - Throws: ``ContentError`` for a corpus that cannot be read, ``BenchRefusal`` or `PressureError` when the
    ///   environment does not let it measure.
    func run() throws -> BenchRecord {
        let load = BenchMachine.load
        progress.begin("reading the corpus")
        let deflater = BenchDeflater()
        let data = try BenchData(directory: corpus, byteCount: plan.reclaimBytes, deflater: deflater)
        let machine = BenchMachine(spillDirectory: directory, corpus: data.source, loadBefore: load)
        progress.begin("warming memory")
        BenchPages.warm(plan.warmBytes)

        board.begin(machine)
        let log = ReclaimLog()
        progress.begin("1 of 5: reads")
        var results = try ReadBench(plan: plan, directory: directory).run()
        board.note(results)
        progress.begin("2 of 5: reclaims")
        results += try ReclaimBench(
            plan: plan,
            directory: directory,
            data: data,
            deflater: deflater,
            cores: machine.cores,
            log: log
        ).run()
        board.note(results)
        progress.begin("3 of 5: restores")
        results += try RestoreBench(plan: plan, directory: directory, data: data, deflater: deflater, log: log).run()
        board.note(results)
        progress.begin("4 of 5: plans")
        results += try PlanBench(plan: plan, directory: directory).run()
        board.note(results)
        progress.begin("5 of 5: scale")
        results.append(try SiblingsBench(plan: plan, directory: directory).run())
        let scale = try ScaleBench(plan: plan, directory: directory, log: log).run()
        results += log.results
        return BenchRecord(machine: machine, results: results, scale: scale, isComplete: true)
    }
}

/// What a bench under way has found.
final class BenchBoard: Sendable {
    private let known = Lock<BenchRecord?>(nil)

    /// `nil` until it is known on what machine it measures.
    var soFar: BenchRecord? { known.withLock { $0 } }

    func begin(_ machine: BenchMachine) {
        known.withLock { $0 = BenchRecord(machine: machine, results: [], scale: [], isComplete: false) }
    }

    /// All results so far.
    func note(_ results: [BenchResult]) {
        known.withLock {
            $0 = $0.map { BenchRecord(machine: $0.machine, results: results, scale: [], isComplete: false) }
        }
    }
}

/// What a run of the bench found.
struct BenchRecord: Sendable {
    var machine: BenchMachine
    /// One for each metric, in the order of the metrics.
    let results: [BenchResult]
    var scale: [ScaleRow]
    /// Whether it was let to its end.
    let isComplete: Bool

    init(machine: BenchMachine, results: [BenchResult], scale: [ScaleRow], isComplete: Bool) {
        self.machine = machine
        self.isComplete = isComplete
        self.scale = scale
        self.results = BenchMetric.allCases.map { metric in
            results.first { $0.metric == metric } ?? BenchResult(metric, value: nil)
        }
    }
}
