import Foundation

/// A run of `bench` or `worth` as it is kept: one line of JSON in a file that only grows. Keys are stable, as those of
/// ``BenchJSON``.
struct BenchRun: Codable, Hashable, Sendable {
    /// Where it was measured. Figures of different machines are not compared.
    struct Machine: Codable, Hashable, Sendable {
        var processor: String
        var cores: Int
        var memoryBytes: Int
        var kernel: String
        var zlib: String
        var optimized: Bool
    }

    struct Metric: Codable, Hashable, Sendable {
        var name: String
        var unit: String
        /// Missing when it was not measured.
        var value: Double?
        var limit: Double?
        var ratio: Double?
        var goal: String
        var holds: Bool?

        init(_ subject: BenchSubject, value: Double?, limit: Double?) {
            name = subject.name
            unit = subject.unit.rawValue
            (self.value, self.limit) = (value, limit)
            ratio = subject.goal.ratio(of: value, to: limit)
            goal = subject.goal.text
            holds = number(subject.goal).map(subject.goal.holds)
        }

        /// The number that a goal is about: the ratio, or the value where there is no ratio.
        func number(_ goal: BenchGoal) -> Double? { goal.ratio == .none ? value : ratio }
    }

    /// Goes up when a reader of the version before would misread the line.
    var formatVersion = 1
    /// ISO 8601, in UTC.
    var date: String
    /// What was measured, if it was said.
    var commit: String?
    /// `full`, `quick` or `tiny` for the bench; ``worth`` and how it was measured for that.
    var plan: String
    var machine: Machine
    /// Runnable threads before the start.
    var loadBefore: Double
    var metrics: [Metric]

    init(machine: BenchMachine, plan: String, commit: String?, metrics: [Metric], date: Date = Date()) {
        self.date = date.ISO8601Format()
        self.commit = commit
        self.plan = plan
        self.machine = Machine(
            processor: machine.processor,
            cores: machine.cores,
            memoryBytes: machine.memoryBytes,
            kernel: machine.kernel,
            zlib: machine.zlib,
            optimized: machine.optimized
        )
        loadBefore = machine.loadBefore
        self.metrics = metrics
    }

    init(_ record: BenchRecord, plan: String, commit: String?, date: Date = Date()) {
        let metrics = record.results.map { Metric($0.metric.subject, value: $0.value, limit: $0.limit) }
        self.init(machine: record.machine, plan: plan, commit: commit, metrics: metrics, date: date)
    }

    /// How plans and metrics of `worth` begin.
    static let worth = "worth"
    var isOfWorth: Bool { plan.hasPrefix(Self.worth) }

    subscript(name: String) -> Metric? { metrics.first { $0.name == name } }

    /// Whether this version can read it, and its numbers can be written: nobody measures a quadrillion of anything, nor a
    /// time of days or below zero.
    var isPlausible: Bool {
        formatVersion == 1 && (0...1_000_000).contains(machine.cores) && machine.memoryBytes >= 0
            && (0..<1e6).contains(loadBefore) && metrics.allSatisfy(\.isPlausible)
    }

    /// Whether another run's figures can be held against this one's: the same kind of machine, build and amount of data.
    func isComparable(with other: BenchRun) -> Bool {
        machine.processor == other.machine.processor && machine.cores == other.machine.cores
            && machine.optimized == other.machine.optimized && plan == other.plan
    }
}

extension BenchRun.Metric {
    fileprivate var isPlausible: Bool {
        let range = unit == BenchUnit.seconds.rawValue ? 0..<1e6 : -1e15..<1e15
        return [value, limit].allSatisfy { $0.map(range.contains) ?? true } && (ratio.map { abs($0) < 1e15 } ?? true)
    }
}
