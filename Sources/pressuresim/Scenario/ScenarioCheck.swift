import Foundation
import PressureKit

/// The checks that need the whole scenario: names that clash, patterns that match nothing, files that are not there.
struct ScenarioCheck {
    private let scenario: Scenario
    private let file: String
    private let diagnostics: Diagnostics
    /// Every cache by path, with whether it has a loader.
    private var caches: [(path: String, hasLoader: Bool)] = []
    private var controllers: [String] = []
    /// Whether the tree is as the user meant it. With slips in it, patterns that match nothing are told only when those
    /// are mended: they may match then.
    private let isWhole: Bool

    init(_ scenario: Scenario, file: String, _ diagnostics: Diagnostics) {
        self.scenario = scenario
        self.file = file
        self.diagnostics = diagnostics
        isWhole = diagnostics.list.isEmpty
    }

    /// Reports everything found.
    func run() {
        var check = self
        check.collect(scenario.controllers, below: "")
        check.checkSteps(scenario.timeline)
        if check.caches.isEmpty, !scenario.controllers.isEmpty {
            let first = scenario.controllers[0].name.position
            diagnostics.report(at: first, found: "controllers without any cache", allowed: "at least one cache")
        }
    }

    private mutating func collect(_ specs: [ControllerSpec], below parent: String) {
        reportClashes(specs.map { ($0.name.position, $0.names) }, "controller", allowed: "names unique among siblings")
        for spec in specs {
            reportClashes(spec.caches.map { ($0.name.position, $0.names) }, "cache", allowed: "names unique in it")
            for cache in spec.caches { checkContent(cache) }
            for name in spec.names {
                let path = parent + name
                controllers.append(path)
                for cache in spec.caches {
                    caches += cache.names.map { ("\(path)/\($0)", cache.loader != nil) }
                }
            }
            // One of many alike stands for all of them when names clash further down.
            if let first = spec.names.first, spec.names.count == 1 || !spec.children.isEmpty {
                for name in spec.names.count == 1 ? [first] : spec.names {
                    collect(spec.children, below: "\(parent)\(name)/")
                }
            }
        }
    }

    private func reportClashes(_ all: [(Position, [String])], _ noun: String, allowed: String) {
        var seen: Set<String> = []
        for (position, names) in all {
            if let clash = names.first(where: seen.contains) {
                diagnostics.report(at: position, found: "a second \(noun) \"\(clash)\"", allowed: allowed)
            }
            seen.formUnion(names)
        }
    }

    private func checkContent(_ cache: CacheSpec) {
        guard case .files(.directory(let directory)) = cache.content else { return }
        let path = ScenarioPaths.resolve(directory, from: file)
        if (try? FileManager.default.contentsOfDirectory(atPath: path)) == nil {
            diagnostics.report(
                at: cache.name.position,
                found: "a cache with files from \"\(directory)\", no directory that can be read",
                allowed: "default corpus, or a directory that exists (relative to the scenario's file)"
            )
        }
    }

    private func checkSteps(_ steps: [Step]) {
        for step in steps {
            switch step.action {
            case .access(let spec):
                checkMatch(spec.of, "cache", caches.map(\.path))
                checkTrace(spec)
            case .update(let spec):
                checkMatch(spec.of, "cache without a loader", caches.filter { !$0.hasLoader }.map(\.path))
                checkTrace(spec)
            case .browse(let spec):
                checkMatch(spec.of, "controller", controllers)
                checkTrace(spec)
            case .show(let glob), .hide(let glob): checkMatch(glob, "controller", controllers)
            case .fill where !scenario.memory.isReal:
                diagnostics.report(
                    at: step.position,
                    found: "a fill while memory is simulated",
                    allowed: "fill with memory: real or memory: taken_since_start"
                )
            case .awaitLevel where !scenario.memory.isReal:
                diagnostics.report(
                    at: step.position,
                    found: "an await while memory is simulated",
                    allowed: "await with memory: real or memory: taken_since_start"
                )
            case .together(let steps): checkSteps(steps)
            default: break
            }
        }
    }

    private func checkMatch(_ glob: Marked<PathGlob>, _ noun: String, _ paths: [String]) {
        guard isWhole, !paths.contains(where: glob.value.matches) else { return }
        // Alike paths differ in their digits; one of each kind is enough to choose from.
        var kinds: [String] = []
        for path in paths {
            let kind = Numbering.kind(of: path)
            if !kinds.contains(kind) { kinds.append(kind) }
            if kinds.count == 12 { break }
        }
        diagnostics.report(
            at: glob.position,
            found: "\"\(glob.value)\", which matches no \(noun)",
            allowed: kinds.isEmpty ? "nothing: there is no \(noun)" : kinds.joined(separator: ", "),
            suggestion: Spelling.nearest(to: glob.value.description, among: kinds)
        )
    }

    private func checkTrace(_ spec: AccessSpec) {
        guard case .trace(let trace) = spec.pattern else { return }
        let path = ScenarioPaths.resolve(trace, from: file)
        if !FileManager.default.isReadableFile(atPath: path) {
            diagnostics.report(
                at: spec.of.position,
                found: "a trace \"\(trace)\" that cannot be read",
                allowed: "a text file with one key a line (relative to the scenario's file)"
            )
        }
    }
}

/// Paths that a scenario names.
enum ScenarioPaths {
    /// An absolute path as it is, a relative one from the directory of the scenario's file.
    static func resolve(_ path: String, from file: String) -> String {
        if path.hasPrefix("/") { return path }
        return URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent(path).path
    }
}
