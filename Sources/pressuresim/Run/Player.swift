import PressureKit

/// Plays a scenario's timeline against a world. Blocking: it has a thread of its own.
final class Player: Sendable {
    let scenario: Scenario
    let world: World
    let manager: PressureManager
    let log: RunLog
    let fill = MemoryFill()
    let hogs = HogProcesses()
    let progress: Progress
    /// Caches by the path of their controller.
    let shelves: [String: [any SimulatedCache]]
    /// By the path they have in the scenario.
    let traces: [String: TraceKeys]

    /// - Throws: ``ContentError`` when a trace is not to be had.
    init(
        scenario: Scenario,
        file: String,
        world: World,
        manager: PressureManager,
        log: RunLog,
        progress: Progress
    ) throws {
        self.scenario = scenario
        self.world = world
        self.manager = manager
        self.log = log
        self.progress = progress
        shelves = Dictionary(grouping: world.caches) { cache in
            String(cache.path.prefix(upTo: cache.path.lastIndex(of: "/") ?? cache.path.startIndex))
        }
        traces = try TraceKeys.all(of: scenario, file: file)
    }

    /// Plays all steps.
    ///
    /// - Throws: ``PressureError`` when there are no threads.
    func play() throws {
        log.begin()
        defer { hogs.end() }
        for (index, step) in scenario.timeline.enumerated() {
            progress.begin("step \(index + 1) of \(scenario.timeline.count): \(step.title)")
            try play(step, number: index + 1, stream: UInt64(index) << 16)
        }
        fill.release()
        log.change { [elapsed = log.elapsed, hogs = hogs.peak] record in
            record.duration = elapsed
            record.hogged = hogs
        }
    }

    private func play(_ step: Step, number: Int, stream: UInt64) throws {
        let start = log.elapsed
        var outcome = ""
        switch step.action {
        case .warning(let spec):
            return relieve(step, number) { await $0.simulateMemoryWarning(spec.level, freeing: spec.freeing) }
        case .background:
            return relieve(step, number) { await $0.enterBackground() }
        case .together(let steps):
            return try playTogether(steps, number: number, stream: stream)
        case .foreground: outcome = foreground()
        case .access(let spec): outcome = try access(spec, stream: stream)
        case .update(let spec): outcome = update(spec, stream: stream)
        case .browse(let spec): outcome = browse(spec, stream: stream)
        case .show(let glob): outcome = change(glob.value) { $0.appear() } + " shown"
        case .hide(let glob): outcome = change(glob.value) { $0.disappear() } + " hidden"
        case .fill(let spec): outcome = take(spec)
        case .present(let path): outcome = present(path.value)
        case .dismiss(let path): outcome = dismiss(path.value)
        case .transition(let spec): outcome = transition(spec)
        case .hog(let spec): outcome = try hog(spec)
        case .disk(let spec): outcome = setDisk(spec)
        case .phase(let name): outcome = enter(phase: name)
        case .release:
            fill.release()
            hogs.end()
            outcome = "given back"
        case .awaitLevel(let spec): outcome = waitForLevel(spec)
        case .wait(let duration): Pause.sleep(duration)
        case .verify: outcome = try verify()
        case .relaunch: preconditionFailure("the timeline is split at these")
        }
        let duration = log.elapsed - start
        log.change { record in
            record.steps.append(
                .init(
                    number: number,
                    title: step.title,
                    start: start,
                    duration: duration,
                    outcome: outcome,
                    relief: nil,
                    phase: record.phase
                )
            )
        }
    }

    private func playTogether(_ steps: [Step], number: Int, stream: UInt64) throws {
        let failures = RunFailures()
        try Blocking.parallel(steps.count) { index in
            do {
                try self.play(steps[index], number: number, stream: stream + UInt64(index) << 8)
            } catch {
                failures.note(error)
            }
        }
        try failures.rethrow()
    }

    // MARK: Reliefs

    private func relieve(
        _ step: Step,
        _ number: Int,
        _ request: @escaping @Sendable (PressureManager) async -> EvictionReport
    ) {
        let start = log.elapsed
        let before = ProcessMemory.resident
        let manager = manager
        let report = Blocking.wait { await request(manager) }
        let fall = before - ProcessMemory.resident
        log.add(report, number: number, title: step.title, at: start, rssFall: fall)
        noteSpillFile()
    }

    private func foreground() -> String {
        let manager = manager
        return note(Blocking.wait { await manager.enterForeground() })
    }

    /// Remembers the spill file's size if it never was larger.
    func noteSpillFile() {
        guard let size = manager.snapshot().spillFile else { return }
        log.change { $0.spillFilePeak = max($0.spillFilePeak, size) }
    }

    // MARK: The rest

    private func change(_ glob: PathGlob, _ body: (PressureController) -> Void) -> String {
        let controllers = world.controllers(glob)
        for controller in controllers { body(controller) }
        return Quantities.count(controllers.count, "controller")
    }

    private func take(_ spec: FillSpec) -> String {
        let end = fill.fill(spec) { manager.level }
        log.change { [peak = fill.peakBytes] in $0.filled = max($0.filled, peak) }
        let taken = fill.peakBytes
        return switch end {
        case .reached: "\(spec.level) reached with \(taken) taken"
        case .bound: "all of \(taken) taken, and \(spec.level) not reached"
        case .floor: "stopped at \(taken): less than \(MemoryFill.floor) are available here"
        }
    }

    private func waitForLevel(_ spec: AwaitSpec) -> String {
        let end = ContinuousClock.now + spec.within
        while manager.level > spec.level, ContinuousClock.now < end { Pause.sleep(.milliseconds(20)) }
        return manager.level <= spec.level ? "\(manager.level)" : "still \(manager.level)"
    }
}
