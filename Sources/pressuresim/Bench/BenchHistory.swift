import Foundation
import ScenarioLanguage

/// A run of the bench as it is kept: one line of JSON in a file that only grows. Keys are stable, as those of
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
    }

    /// Goes up when a reader of the version before would misread the line.
    var formatVersion = 1
    /// ISO 8601, in UTC.
    var date: String
    /// What was measured, if it was said.
    var commit: String?
    /// `full`, `quick` or `tiny`.
    var plan: String
    var machine: Machine
    /// Runnable threads before the start.
    var loadBefore: Double
    var metrics: [Metric]

    init(_ record: BenchRecord, plan: String, commit: String?, date: Date = Date()) {
        self.date = date.ISO8601Format()
        self.commit = commit
        self.plan = plan
        let machine = record.machine
        self.machine = Machine(
            processor: machine.processor,
            cores: machine.cores,
            memoryBytes: machine.memoryBytes,
            kernel: machine.kernel,
            zlib: machine.zlib,
            optimized: machine.optimized
        )
        loadBefore = machine.loadBefore
        metrics = record.results.map { result in
            Metric(
                name: result.metric.rawValue,
                unit: result.metric.unit.rawValue,
                value: result.value,
                limit: result.limit,
                ratio: result.ratio,
                goal: result.metric.goal.text,
                holds: result.holds
            )
        }
    }

    subscript(metric: BenchMetric) -> Metric? { metrics.first { $0.name == metric.rawValue } }

    /// Whether this version can read it, and its numbers can be written: nobody measures a quadrillion of anything, nor a
    /// time of days or below zero.
    fileprivate var isPlausible: Bool {
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

    /// The number that the goal is about: the ratio, or the value where there is no ratio.
    func number(_ metric: BenchMetric) -> Double? { metric.goal.ratio == .none ? value : ratio }
}

/// Reads and extends the file.
enum BenchHistory {
    /// What is wrong with a file, with its place.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    /// The runs of a file, oldest first as they were added; none if there is no such file.
    ///
    /// - Throws: ``Unreadable`` at the first line that is no run.
    static func read(_ path: String) throws(Unreadable) -> [BenchRun] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        // A run takes a few kilobytes.
        guard let data = try? BoundedInput.read(path, atMost: 64 << 20), let text = String(data: data, encoding: .utf8)
        else {
            throw Unreadable(description: "\(path): not a readable text file. Name another file, or one to be made.")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var runs: [BenchRun] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) { continue }
            guard let run = try? decoder.decode(BenchRun.self, from: Data(line.utf8)), run.isPlausible else {
                throw Unreadable(
                    description: "\(path):\(index + 1): found no run of the bench; allowed here: a line that "
                        + "bench --append wrote. Remove the line or name another file."
                )
            }
            runs.append(run)
        }
        return runs
    }

    /// A run as a line, with its end.
    static func line(_ run: BenchRun) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(run) + Data("\n".utf8)
    }

    /// Adds a run to a file, which is made if need be. A last line without an end gets one first.
    static func append(_ run: BenchRun, to path: String) throws {
        let line = try line(run)
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let end = try file.seekToEnd()
        var needsEnd = false
        if end > 0 {
            try file.seek(toOffset: end - 1)
            needsEnd = try file.readToEnd() != Data("\n".utf8)
        }
        try file.write(contentsOf: (needsEnd ? Data("\n".utf8) : Data()) + line)
    }
}
