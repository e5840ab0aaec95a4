import Foundation

/// The bench's record for programs. Keys are stable: new ones may come, none changes its meaning or goes.
struct BenchJSON: Encodable {
    struct MetricPart: Encodable {
        var name: String
        var value: Double?
        var unit: String
        var limit: Double?
        var ratio: Double?
        var goal: String
        var holds: Bool?

        private enum CodingKeys: CodingKey { case name, value, unit, limit, ratio, goal, holds }

        /// What was not measured is written as null, not left out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(value, forKey: .value)
            try container.encode(unit, forKey: .unit)
            try container.encode(limit, forKey: .limit)
            try container.encode(ratio, forKey: .ratio)
            try container.encode(goal, forKey: .goal)
            try container.encode(holds, forKey: .holds)
        }
    }

    /// Goes up when a reader of the version before would misread the file.
    var formatVersion = 1
    /// Whether the bench was let to its end.
    var complete: Bool
    var machine: BenchMachine
    var metrics: [MetricPart]
    var scale: [ScaleRow]

    init(_ record: BenchRecord) {
        complete = record.isComplete
        machine = record.machine
        scale = record.scale
        metrics = record.results.map { result in
            MetricPart(
                name: result.metric.rawValue,
                value: result.value,
                unit: result.metric.unit.rawValue,
                limit: result.limit,
                ratio: result.ratio,
                goal: result.metric.goal.text,
                holds: result.holds
            )
        }
    }

    /// The JSON text: keys in snake case and in order, so that two reports can be compared by eye.
    func data() throws -> Data { try CommandJSON.encode(self) }
}
