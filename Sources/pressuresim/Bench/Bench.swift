import PressureKit

/// One run of the bench: everything measured, one thing after the other, on one thread.
struct Bench: Sendable {
    var plan: BenchPlan
    /// Of files; `nil` for the default.
    var corpus: String?
    /// Where the library spills and the limits write.
    var directory: String
    var progress: Progress = .quiet

    /// Blocks until all is measured.
    ///
    /// - Throws: ``ContentError`` for a corpus that cannot be read, ``BenchRefusal`` or `PressureError` when the
    ///   environment does not let it measure.
    func run() throws -> BenchRecord {
        let load = BenchMachine.load
        progress.begin("reading the corpus")
        let deflater = BenchDeflater()
        let data = try BenchData(directory: corpus, byteCount: plan.reliefBytes, deflater: deflater)
        let machine = BenchMachine(spillDirectory: directory, corpus: data.source, loadBefore: load)
        progress.begin("warming memory")
        BenchPages.warm(plan.warmBytes)

        let log = ReliefLog()
        progress.begin("reads")
        var results = try ReadBench(plan: plan, directory: directory).run()
        progress.begin("reliefs")
        results += try ReliefBench(
            plan: plan,
            directory: directory,
            data: data,
            deflater: deflater,
            cores: machine.cores,
            log: log
        ).run()
        progress.begin("restores")
        results += try RestoreBench(plan: plan, directory: directory, data: data, deflater: deflater, log: log).run()
        progress.begin("plans")
        results += try PlanBench(plan: plan, directory: directory).run()
        progress.begin("scale")
        let scale = try ScaleBench(plan: plan, directory: directory, log: log).run()
        results += log.results
        return BenchRecord(machine: machine, results: results, scale: scale)
    }
}

/// What a run of the bench found.
struct BenchRecord: Sendable {
    var machine: BenchMachine
    /// One for each metric, in the order of the metrics.
    let results: [BenchResult]
    var scale: [ScaleRow]

    init(machine: BenchMachine, results: [BenchResult], scale: [ScaleRow]) {
        self.machine = machine
        self.scale = scale
        self.results = BenchMetric.allCases.map { metric in
            results.first { $0.metric == metric } ?? BenchResult(metric, value: nil)
        }
    }
}
