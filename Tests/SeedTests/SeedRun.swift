import Foundation
import PressureKitTestSupport
import Synchronization

@testable import PressureKit
@testable import PressureKitTesting

/// What came of a run.
struct SeedOutcome: Sendable {
    var complaints: [SeedComplaint]
    var digest: UInt64
    var counts: SeedCounts
    var log: [String]
}

extension SeedPlan {
    /// Plays the run in a world of its own, on this thread.
    func play(mistake: SeedMistake? = nil) -> SeedOutcome {
        do {
            let world = try SeedWorld(setting, mistake: mistake)
            SeedWatch.shared.begin(self)
            for (number, step) in steps.enumerated() {
                SeedWatch.shared.note(number)
                world.play(step, number: number)
                // What comes after the first complaint says little.
                if !world.complaints.isEmpty { break }
            }
            SeedWatch.shared.note(steps.count)
            if world.complaints.isEmpty { world.settle() }
            if !world.complaints.isEmpty { world.close() }
            world.leaked = nil
            SeedWatch.shared.end()
            return SeedOutcome(
                complaints: world.complaints,
                digest: world.digest,
                counts: world.counts,
                log: world.log
            )
        } catch {
            let complaint = SeedComplaint(promise: .other, step: 0, text: "no world: \(error)")
            return SeedOutcome(complaints: [complaint], digest: 0, counts: SeedCounts(), log: [])
        }
    }

    /// The shortest run that breaks the same promise, as far as leaving out and simplifying gets: delta debugging
    /// (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002).
    func shrunk(mistake: SeedMistake? = nil, promise: SeedPromise, attempts: Int = 600) -> SeedPlan {
        var best = self
        var left = attempts
        func fails(_ plan: SeedPlan) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            return plan.play(mistake: mistake).complaints.first?.promise == promise
        }
        var size = max(1, best.steps.count / 2)
        while size > 0, left > 0 {
            var start = 0
            var hasShrunk = false
            while start < best.steps.count, left > 0 {
                var plan = best
                plan.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if fails(plan) { (best, hasShrunk) = (plan, true) } else { start += size }
            }
            if size == 1, !hasShrunk { break }
            if size > 1 { size /= 2 } else if !hasShrunk { size = 0 }
        }
        for setting in best.setting.simpler {
            var plan = best
            plan.setting = setting
            if fails(plan) { best = plan }
        }
        for index in best.steps.indices {
            for place in best.steps[index].numbers.indices where best.steps[index].numbers[place] != 0 {
                var plan = best
                plan.steps[index].numbers[place] = 0
                if fails(plan) { best = plan }
            }
        }
        return best
    }
}

/// Ends the process when a step takes for ever, and says which: somebody waits for a lock or a reply.
final class SeedWatch: Sendable {
    static let shared = SeedWatch()

    private struct State {
        var plan: SeedPlan?
        var step = 0
        var beats = 0
    }

    private let state = Shared(State())

    private init() {
        // Real time: the only thing here that is measured, and only to end what would never end.
        try? WorkerThread.spawn("seed-watch") { [state] in
            var last = -1
            while true {
                sleep(Self.patience)
                let now = state.value
                if let plan = now.plan, now.beats == last {
                    print("seed \(plan.seed) hangs in step \(now.step); P6 or P12 is broken. The script:")
                    print(plan.script)
                    fflush(nil)
                    abort()
                }
                last = now.beats
            }
        }
    }

    private static let patience =
        ProcessInfo.processInfo.environment["PRESSUREKIT_SEED_PATIENCE"].flatMap { UInt32($0) } ?? 60

    func begin(_ plan: SeedPlan) {
        state.change { ($0.plan, $0.step, $0.beats) = (plan, 0, $0.beats + 1) }
        guard let path = Self.mark else { return }
        try? plan.script.write(toFile: path, atomically: false, encoding: .utf8)
    }

    func note(_ step: Int) { state.change { ($0.step, $0.beats) = (step, $0.beats + 1) } }
    func end() { state.change { $0.plan = nil } }

    /// Where the run under way is written, for who finds out that it ended the process.
    private static let mark = ProcessInfo.processInfo.environment["PRESSUREKIT_SEED_MARK"]
}
