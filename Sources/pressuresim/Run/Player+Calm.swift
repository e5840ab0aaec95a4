import PressureKit
import ReportPages
import ScenarioLanguage

extension Player {
    /// Time in which nobody needs the machine: the library works ahead. Where nothing but the timeline tells it of memory,
    /// what it does is done here, and what it would only wait for is passed over by its clock.
    func calm(_ duration: Duration) -> String {
        let before = world.outflow
        if scenario.memory.isReal { pace.sleep(duration) } else { workAhead(for: duration) }
        let after = world.outflow
        var parts: [String] = []
        if after.rewrittenFrom > before.rewrittenFrom {
            let old = Quantities.bytes(Double(after.rewrittenFrom - before.rewrittenFrom))
            let new = Quantities.bytes(Double(after.rewrittenTo - before.rewrittenTo))
            parts.append("copies compressed, \(old) → \(new)")
        }
        if after.copiedBytes > before.copiedBytes {
            parts.append("\(Quantities.bytes(Double(after.copiedBytes - before.copiedBytes))) written ahead")
        }
        return parts.joined(separator: "; ")
    }

    private func workAhead(for duration: Duration) {
        var left = duration
        while left > .zero, pace.goesOn() {
            let start = pace.clock.now()
            let pause = min(manager.driveCleaning() ?? Self.look, left)
            if let skipping = stage.skipping { skipping.skip(pause) } else { pace.sleep(pause) }
            recorder.noteEvent()
            left -= pace.clock.now() - start + (stage.skipping == nil ? .zero : pause)
        }
    }

    /// From one look for work to the next, when there was none.
    private static let look = Duration.seconds(1)
}

/// Copies of caches that are alike, written anew in idle time.
struct Rewritten: Hashable, Sendable {
    /// The caches' path, with `*` for their numbers.
    var path: String
    /// What the copies took before, and what they take since.
    var from: Int
    var to: Int

    /// A line of the account. What is packed already takes what it took.
    var words: String {
        let (old, new) = (Quantities.bytes(Double(from)), Quantities.bytes(Double(to)))
        let isSmaller = Double(to) < Double(from) * 0.98
        return isSmaller
            ? "compressed in idle time: \(path), \(old) → \(new)"
            : "tried in idle time: \(path), \(old), does not shrink"
    }

    /// Those of a world, the largest first.
    static func all(in world: World) -> [Rewritten] {
        world.outflow(by: Numbering.kind)
            .filter { $0.value.rewrittenFrom > 0 }
            .map { Rewritten(path: $0.key, from: $0.value.rewrittenFrom, to: $0.value.rewrittenTo) }
            .sorted { ($1.from, $0.path) < ($0.from, $1.path) }
    }
}
