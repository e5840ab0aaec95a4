import Foundation
import PressureSystem

/// The checks of the timeline.
extension ScenarioCheck {
    /// Reports every step that cannot be played.
    func checkSteps(_ steps: [Step]) {
        for step in steps {
            switch step.action {
            case .access(let spec):
                checkMatch(spec.of, "cache", places.caches.map(\.path), keyed: places.caches)
                checkTrace(spec)
            case .update(let spec):
                let kept = places.caches.filter { !$0.hasLoader }
                checkMatch(spec.of, "cache without a loader", kept.map(\.path), keyed: kept)
                checkTrace(spec)
            case .browse(let spec):
                checkMatch(spec.of, "controller", places.controllers)
                checkTrace(spec)
            case .show(let glob), .hide(let glob): checkMatch(glob, "controller", places.controllers)
            case .present(let path), .dismiss(let path):
                checkPath(path, "controller that is listed in presents", places.presented)
            case .transition(let spec): check(spec)
            case .fill(let spec): check(spec, at: step.position)
            case .hog(let spec): check(spec, at: step.position)
            case .awaitLevel where !scenario.memory.isReal:
                diagnostics.report(
                    at: step.position,
                    found: "an await while memory is simulated",
                    allowed: "await with memory: real, taken_since_start or cgroup_limit"
                )
            case .relaunch where !places.presented.isEmpty:
                diagnostics.report(
                    at: step.position,
                    found: "a relaunch in a scenario with controllers that are presented",
                    allowed: "children in place of presents: what is out of the tree is not in its saved state"
                )
            case .together(let steps): checkSteps(steps)
            default: break
            }
        }
    }

    private func check(_ spec: TransitionSpec) {
        checkPath(spec.outgoing, "controller", places.controllers)
        checkPath(spec.incoming, "controller", places.controllers)
        let (outgoing, incoming) = (spec.outgoing.value, spec.incoming.value)
        guard ScenarioPlaces.parent(of: outgoing) == ScenarioPlaces.parent(of: incoming), outgoing != incoming else {
            return diagnostics.report(
                at: spec.incoming.position,
                found: "a transition from \"\(outgoing)\" to \"\(incoming)\"",
                allowed: "two different children of one controller"
            )
        }
    }

    private func check(_ spec: FillSpec, at position: Position) {
        if !scenario.memory.isReal {
            diagnostics.report(
                at: position,
                found: "a fill while memory is simulated",
                allowed: "fill with memory: real, taken_since_start or cgroup_limit"
            )
        }
        // Each process fills.
        checkFits(.bytes(spec.atMost.bytes * scenario.processes), "a fill of up to", at: position)
    }

    private func check(_ spec: HogSpec, at position: Position) { checkFits(spec.size, "a hog of", at: position) }

    /// What takes more than the cgroup allows is killed there, or kills.
    private func checkFits(_ size: ByteCount, _ what: String, at position: Position) {
        guard let limit = scenario.memory.cgroupLimit, size.bytes > limit.bytes / 2 else { return }
        diagnostics.report(
            at: position,
            found: "\(what) \(size) in a cgroup of \(limit)",
            allowed: "at most half of the limit, so that the rest can make room"
        )
    }

    private func checkTrace(_ spec: AccessSpec) {
        guard case .trace(let trace) = spec.pattern else { return }
        let path = ScenarioPaths.resolve(trace, from: file)
        do throws(TraceFile.Refusal) {
            _ = try TraceFile.keys(path)
        } catch {
            diagnostics.report(
                at: spec.of.position,
                found: "a trace \"\(trace)\" that \(error.reason)",
                allowed:
                    "a text file of at most 64 MiB, packed by gzip or not, with one key a line (relative to the scenario's file)"
            )
        }
    }

    /// Walks along the timeline: nothing is presented twice, and nothing dismissed that is not presented. Steps side by
    /// side may come in any order, and are left to the library.
    func checkPresentations() {
        var presented: [String: String] = [:]
        for step in scenario.timeline {
            switch step.action {
            case .present(let path):
                let presenter = ScenarioPlaces.parent(of: path.value)
                if let other = presented[presenter] {
                    diagnostics.report(
                        at: path.position,
                        found: "\"\(path.value)\" presented while \"\(other)\" is",
                        allowed: "one at a time: dismiss the other one before"
                    )
                }
                presented[presenter] = path.value
            case .dismiss(let path) where places.presented.contains(path.value):
                guard presented.removeValue(forKey: ScenarioPlaces.parent(of: path.value)) == nil else { continue }
                diagnostics.report(
                    at: path.position,
                    found: "\"\(path.value)\" dismissed, which is not presented",
                    allowed: "a controller that an earlier step presents"
                )
            default: break
            }
        }
    }
}

/// Paths that a scenario names.
package enum ScenarioPaths {
    /// An absolute path as it is, a relative one from the directory of the scenario's file.
    package static func resolve(_ path: String, from file: String) -> String {
        if path.hasPrefix("/") { return path }
        return URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent(path).path
    }
}
