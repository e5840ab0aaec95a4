import PressureKit
import ReportPages
import ScenarioLanguage

/// What a run knows of the other processes that played its scenario.
extension RunRecord {
    /// One that was not the first.
    struct Neighbour: Sendable, Hashable {
        enum End: Sendable, Hashable {
            case finished
            /// With SIGKILL, which below a limit is the kernel's.
            case killed
            /// Otherwise, in a few words.
            case failed(String)

            /// As programs read it.
            var word: String {
                switch self {
                case .finished: "finished"
                case .killed: "killed"
                case .failed: "failed"
                }
            }
        }

        /// Counts from 2: the one that reports is the first.
        var number: Int
        var seed: UInt64
        var end: End
        /// What it said when it had played.
        var result: NeighbourResult?

        /// What went wrong, apart from its values; `nil` for nothing.
        var complaint: String? {
            switch end {
            case .finished: nil
            case .killed: "process \(number) was killed"
            case .failed(let words): "process \(number) \(words)"
            }
        }
    }

    /// Whether all processes have played to the end.
    var allFinished: Bool { isInterrupted || neighbours.allSatisfy { $0.end == .finished } }

    /// How many processes have not.
    var unfinished: String {
        "\(neighbourComplaints.count) of \(neighbours.count + 1) processes did not get to the end"
    }

    /// Notes how the others fared. What they lost, and what failed, counts as this process's own.
    mutating func add(_ ended: [Neighbour]) {
        neighbours = ended
        for one in ended {
            guard let result = one.result else { continue }
            let place = "process \(one.number): "
            tally.losses += result.losses.map { .init(path: place + $0.path, reason: $0.reason) }
            tally.failures += result.failures
            tally.complaints += result.complaints.map { place + $0 }
        }
    }

    /// What went wrong with them, a line each. Of a run that was interrupted, nothing: it ends them itself.
    var neighbourComplaints: [String] { isInterrupted ? [] : neighbours.compactMap(\.complaint) }

    /// The bytes of values that each process held over time; empty where there was one.
    var heldByProcess: [HeldCurve] {
        guard !neighbours.isEmpty else { return [] }
        let lost = tally.losses.count - neighbours.reduce(0) { $0 + ($1.result?.losses.count ?? 0) }
        let own = HeldCurve(
            number: 1,
            seed: scenario.seed,
            end: .finished,
            lost: lost,
            held: timeline.points.map(\.resident)
        )
        return [own]
            + neighbours.enumerated().map { index, one in
                HeldCurve(
                    number: one.number,
                    seed: one.seed,
                    end: one.end,
                    lost: one.result?.losses.count ?? 0,
                    held: timeline.points.map { index < $0.neighbours.count ? $0.neighbours[index] : nil }
                )
            }
    }

    /// One line about all of them; `nil` where there was one process.
    var neighbourWords: String? {
        let curves = heldByProcess
        guard !curves.isEmpty else { return nil }
        func list(_ value: (HeldCurve) -> ByteCount?) -> String {
            curves.map { value($0).map { "\($0)" } ?? "–" }.joined(separator: ", ")
        }
        let killed = neighbours.count { $0.end == .killed }
        let lost = neighbours.reduce(0) { $0 + ($1.result?.losses.count ?? 0) }
        return "\(curves.count) processes held \(list(\.mean)) in the mean and \(list(\.atEnd)) at the end; "
            + (killed == 0 ? "nobody was killed" : "\(killed) killed")
            + (lost == 0 ? "" : ", \(Quantities.count(lost, "value")) lost by the others")
    }
}

/// What one of several processes held in values, at the points of the timeline.
struct HeldCurve: Sendable {
    var number: Int
    var seed: UInt64
    var end: RunRecord.Neighbour.End
    var lost = 0
    /// By point; `nil` when it had ended.
    var held: [ByteCount?]

    var atEnd: ByteCount? { held.last ?? nil }

    /// Over the points at which it was there.
    var mean: ByteCount? {
        let there = held.compactMap(\.self)
        return there.isEmpty ? nil : .bytes(there.reduce(0) { $0 + $1.bytes } / there.count)
    }

    var most: ByteCount? { held.compactMap(\.self).max() }
}
