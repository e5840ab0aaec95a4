import PressureKit
import ReportPages
import ScenarioLanguage

/// The steps that read and change values.
extension Player {
    /// Reads values in the order of the pattern. What it gives back is for the account.
    func access(_ spec: AccessSpec, stream: UInt64) throws -> String {
        let caches = world.caches(spec.of.value)
        let sequence = sequence(spec, population: caches.count, stream: stream)
        let groups = watched.groups(of: caches)
        let count = spec.count ?? sequence.pass
        let total = AccessTotal()
        try pace.parallel(spec.threads) { [self] thread in
            // Every thread walks the whole sequence and takes its share, so the accesses are the same however many.
            var sequence = sequence
            var tally = GroupedTally(live: recorder.counts)
            for turn in 0..<count {
                let index = sequence.next()
                guard turn % spec.threads == thread else { continue }
                tally.access(groups[index]) { caches[index].access(&$0) }
                guard goesOn(turn, of: count, every: spec.every) else { break }
            }
            total.add(tally)
        }
        return finish(total.tally, sequence)
    }

    /// Changes values without a loader.
    func update(_ spec: AccessSpec, stream: UInt64) -> String {
        let caches = world.caches(spec.of.value).filter { !$0.hasLoader }
        let groups = watched.groups(of: caches)
        var sequence = sequence(spec, population: caches.count, stream: stream)
        var tally = GroupedTally(live: recorder.counts)
        let count = spec.count ?? sequence.pass
        for turn in 0..<count {
            let index = sequence.next()
            tally.access(groups[index]) { caches[index].update(&$0) }
            guard goesOn(turn, of: count, every: spec.every) else { break }
        }
        _ = finish(tally, sequence)
        return ([Quantities.count(count, "change")] + [sequence.remark].compactMap(\.self)).joined(separator: ", ")
    }

    /// Shows controllers one after the other and reads what each holds.
    func browse(_ spec: AccessSpec, stream: UInt64) -> String {
        let controllers = world.controllers(spec.of.value)
        var sequence = sequence(spec, population: controllers.count, stream: stream)
        var shown = controllers.filter(\.isVisible)
        var tally = GroupedTally(live: recorder.counts)
        let count = spec.count ?? sequence.pass
        for turn in 0..<count {
            let next = controllers[sequence.next()]
            if !next.isVisible { next.appear() }
            let shelf = shelves[next.path] ?? []
            for (cache, group) in zip(shelf, watched.groups(of: shelf)) { tally.access(group) { cache.access(&$0) } }
            for old in shown where old !== next { old.disappear() }
            shown = [next]
            guard goesOn(turn, of: count, every: spec.every) else { break }
        }
        return finish(tally, sequence)
    }

    /// Reads every value back and compares it with its source.
    func verifyAll() throws -> AccessTally {
        let total = AccessTotal()
        let caches = world.caches
        world.loadersAct.isSet = false
        defer { world.loadersAct.isSet = true }
        try pace.parallel(2) { [self] thread in
            var tally = GroupedTally()
            for (index, cache) in caches.enumerated() where index % 2 == thread {
                tally.access(0) { cache.verify(&$0) }
                progress.advance(to: index, of: caches.count)
                guard pace.goesOn() else { break }
            }
            total.add(tally)
        }
        let tally = total.tally.all
        log.add(tally)
        return tally
    }

    /// The `verify` step.
    func verify() throws -> String {
        let tally = try verifyAll()
        let lost = tally.losses.isEmpty ? "" : ", \(Quantities.count(tally.losses.count)) LOST"
        return "\(Quantities.count(tally.verified, "value")) compared byte for byte\(lost)"
    }

    private func sequence(_ spec: AccessSpec, population: Int, stream: UInt64) -> AccessSequence {
        var trace: TraceKeys?
        if case .trace(let file) = spec.pattern { trace = traces[file] }
        return AccessSequence(
            spec.pattern,
            population: population,
            seed: scenario.seed,
            stream: stream,
            trace: trace
        )
    }

    private func finish(_ groups: GroupedTally, _ sequence: AccessSequence) -> String {
        let tally = groups.all
        log.add(tally, parts: groups.parts(watched))
        log.events.note(tally, at: log.elapsed)
        let kinds = AccessOutcome.allCases.compactMap { outcome -> String? in
            guard let count = tally.latencies[outcome]?.count, count > 0 else { return nil }
            return Quantities.count(count, outcome.rawValue)
        }
        let failed = tally.loaderFailures + tally.failures
        let others = [failed > 0 ? "\(Quantities.count(failed)) failed" : nil, sequence.remark]
        return (kinds + others.compactMap(\.self)).joined(separator: ", ")
    }
}
