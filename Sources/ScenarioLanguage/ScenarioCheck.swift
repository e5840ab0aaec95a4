import Foundation
import PressureSystem

/// The checks that need the whole scenario: names that clash, patterns that match nothing, files that are not there,
/// limits that cannot hold.
struct ScenarioCheck {
    let scenario: Scenario
    let file: String
    let diagnostics: Diagnostics
    /// What there is.
    let places: ScenarioPlaces
    /// Whether the tree is as the user meant it. With slips in it, patterns that match nothing are told only when those
    /// are mended: they may match then.
    private let isWhole: Bool

    /// Reports everything found.
    static func run(_ scenario: Scenario, file: String, _ diagnostics: Diagnostics) {
        if let (found, allowed) = ScenarioSize(scenario.controllers).excess, let first = scenario.controllers.first {
            // Nothing else is looked at: that would take as long as making it.
            return diagnostics.report(at: first.name.position, found: found, allowed: allowed)
        }
        let check = ScenarioCheck(scenario, file: file, diagnostics)
        check.checkControllers(scenario.controllers)
        check.checkSteps(scenario.timeline)
        check.checkPresentations()
        check.checkParts()
        if check.isWhole, check.places.caches.isEmpty, let first = scenario.controllers.first {
            let position = first.name.position
            diagnostics.report(at: position, found: "controllers without any cache", allowed: "at least one cache")
        }
    }

    private init(_ scenario: Scenario, file: String, _ diagnostics: Diagnostics) {
        self.scenario = scenario
        self.file = file
        self.diagnostics = diagnostics
        isWhole = diagnostics.list.isEmpty
        places = ScenarioPlaces(scenario.controllers)
    }

    // MARK: Controllers and caches

    private func checkControllers(_ specs: [ControllerSpec]) {
        reportClashes(specs.map { ($0.name.position, $0.names) }, "controller", allowed: "names unique among siblings")
        for spec in specs {
            reportClashes(spec.caches.map { ($0.name.position, $0.names) }, "cache", allowed: "names unique in it")
            for cache in spec.caches { check(cache) }
            // What is presented is a child for as long as it is.
            checkControllers(spec.children + spec.presents)
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

    private func check(_ cache: CacheSpec) {
        if let limit = scenario.memory.cgroupLimit, let part = scenario.evenPart,
            cache.size.upperBound.bytes > part.bytes / 4
        {
            let many = scenario.processes > 1
            diagnostics.report(
                at: cache.name.position,
                found: "values of up to \(cache.size.upperBound) in a cgroup of \(limit)"
                    + (many ? " for \(scenario.processes) processes" : ""),
                allowed: "values of at most a quarter of the limit\(many ? " over the processes" : "")"
            )
        }
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

    /// Reports an expectation for a phase that the timeline does not have, or for caches that there are not.
    private func checkParts() {
        let names = scenario.timeline.phases
        let paths = places.caches.map(\.path)
        var globs: Set<PathGlob> = []
        for expectation in scenario.expectations {
            if case .caches(let glob) = expectation.part, globs.insert(glob).inserted,
                globs.count == Expectation.mostPatterns + 1
            {
                diagnostics.report(
                    at: expectation.position,
                    found: "expectations for \(globs.count) patterns of caches or more",
                    allowed: "at most \(Expectation.mostPatterns)"
                )
            }
            switch expectation.part {
            case .phase(let phase) where !names.contains(phase):
                diagnostics.report(
                    at: expectation.position,
                    found: "an expectation for the phase \"\(phase)\", which there is not",
                    allowed: names.isEmpty
                        ? "phases that the timeline has: - phase: NAME" : names.joined(separator: ", "),
                    suggestion: Spelling.nearest(to: phase, among: names)
                )
            case .caches(let glob):
                let place = Marked(value: glob, position: expectation.position)
                checkMatch(place, "cache", paths, keyed: places.caches)
            case .phase, .all: break
            }
        }
    }

    // MARK: Patterns

    /// Reports a pattern over paths that no path matches.
    func checkMatch(_ glob: Marked<PathGlob>, _ noun: String, _ paths: [String], keyed: [ScenarioPlaces.Cache] = []) {
        guard isWhole, !paths.contains(where: glob.value.matches),
            !keyed.contains(where: { $0.isMatched(by: glob.value) })
        else { return }
        reportNoMatch("\(glob.value)", at: glob.position, noun, paths)
    }

    /// Reports a path that is none of these.
    func checkPath(_ path: Marked<String>, _ noun: String, _ paths: [String]) {
        guard isWhole, !paths.contains(path.value) else { return }
        reportNoMatch(path.value, at: path.position, noun, paths)
    }

    private func reportNoMatch(_ text: String, at position: Position, _ noun: String, _ paths: [String]) {
        // Alike paths differ in their digits; one of each kind is enough to choose from.
        var kinds: [String] = []
        for path in paths {
            let kind = Numbering.kind(of: path)
            if !kinds.contains(kind) { kinds.append(kind) }
            if kinds.count == 12 { break }
        }
        diagnostics.report(
            at: position,
            found: "\"\(text)\", which matches no \(noun)",
            allowed: kinds.isEmpty ? "nothing: there is no \(noun)" : kinds.joined(separator: ", "),
            suggestion: Spelling.nearest(to: text, among: kinds)
        )
    }
}

extension [Step] {
    /// The names of the phases, in their order.
    fileprivate var phases: [String] {
        flatMap { step -> [String] in
            switch step.action {
            case .phase(let name): [name]
            case .together(let steps): steps.phases
            default: []
            }
        }
    }
}
