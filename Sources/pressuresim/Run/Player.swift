import PressureKit
import ReportPages
import ScenarioLanguage

/// Plays a scenario's timeline against a world. Blocking: it has a thread of its own.
final class Player: Sendable {
    let scenario: Scenario
    let world: World
    let manager: PressureManager
    let log: RunLog
    let stage: Stage
    let fill: MemoryFill
    let recorder: TimelineRecorder
    let hogs: any Hogs
    let progress: Progress
    /// Those of which anything is expected.
    let watched: WatchedCaches
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
        stage: Stage,
        recorder: TimelineRecorder,
        progress: Progress
    ) throws {
        self.stage = stage
        self.recorder = recorder
        fill = MemoryFill(of: stage.machine, pace: stage.pace)
        hogs = stage.makeHogs()
        self.scenario = scenario
        watched = WatchedCaches(scenario.expectations)
        self.world = world
        self.manager = manager
        self.log = log
        self.progress = progress
        shelves = Dictionary(grouping: world.caches) { cache in
            String(cache.path.prefix(upTo: cache.path.lastIndex(of: "/") ?? cache.path.startIndex))
        }
        traces = try TraceKeys.all(of: scenario, file: file)
    }

    /// How time passes.
    var pace: any Pace { stage.pace }

    /// Plays all steps, or until the run is to end.
    ///
    /// - Throws: ``PressureError`` when there are no threads.
    func play() throws {
        log.begin()
        recorder.start()
        defer {
            recorder.stop()
            hogs.end()
        }
        for (index, step) in scenario.timeline.enumerated() where !stage.stop.isSet {
            progress.begin("step \(index + 1) of \(scenario.timeline.count): \(step.title)")
            recorder.note(step: index + 1)
            try play(step, number: index + 1, stream: UInt64(index) << 16)
            recorder.note(step: index + 1)
            _ = giveTurn()
        }
        if let neighbourhood = stage.neighbourhood {
            progress.begin("waiting for the other processes")
            neighbourhood.meet(.played)
            recorder.note(step: scenario.timeline.count)
        }
        fill.release()
        noteSpillFile()
        let admission = manager.admissionCounts
        let outflow = world.outflow
        let rewritten = Rewritten.all(in: world)
        log.change { [elapsed = log.elapsed, points = recorder.points, isInterrupted = stage.stop.isSet, hogs] record in
            record.duration = elapsed
            record.outflow = outflow
            record.rewritten = rewritten
            record.evictedOtherwise = max(0, outflow.values - record.evictedInReclaims)
            record.freedInBackground += admission.freedInBackground
            record.notSpilledInBackground += admission.notSpilled
            record.timeline.points = points
            record.isInterrupted = isInterrupted
            record.hogged = hogs.peak
        }
    }

    /// Called between two pieces of a step's work: tells how far it is, and gives those side by side with it their turn.
    ///
    /// - Parameter pause: how long to wait as well.
    /// - Returns: whether to go on; not when the run is to end.
    func goesOn(_ turn: Int, of count: Int, every pause: Duration = .zero) -> Bool {
        progress.advance(to: turn, of: count)
        recorder.noteEvent()
        if pause > .zero { pace.sleep(pause) }
        return giveTurn()
    }

    /// Gives those side by side with the caller their turn; in virtual time the library too, whose threads have none.
    private func giveTurn() -> Bool {
        if pace.isVirtual { manager.driveDeferredWork() }
        return pace.goesOn()
    }

    private func play(_ step: Step, number: Int, stream: UInt64) throws {
        let start = log.elapsed
        log.events.note("step", at: start, ["number": "\(log.events.number(number))", "title": step.title])
        var outcome = ""
        switch step.action {
        case .warning(let spec):
            return reclaim(step, number) { await $0.simulateMemoryWarning(spec.level, freeing: spec.freeing) }
        case .background:
            return reclaim(step, number) { await $0.enterBackground() }
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
        case .wait(let duration): pace.sleep(duration)
        case .calm(let duration): outcome = calm(duration)
        case .verify: outcome = try verify()
        case .relaunch: preconditionFailure("the timeline is split at these")
        }
        log.add(
            .init(
                number: number,
                title: step.title,
                start: start,
                duration: log.elapsed - start,
                outcome: outcome,
                reclaim: nil,
                phase: log.phase
            )
        )
    }

    private func playTogether(_ steps: [Step], number: Int, stream: UInt64) throws {
        let failures = RunFailures()
        try pace.parallel(steps.count) { index in
            do {
                try self.play(steps[index], number: number, stream: stream + UInt64(index) << 8)
            } catch {
                failures.note(error)
            }
        }
        try failures.rethrow()
    }

    // MARK: Reclaims

    private func reclaim(
        _ step: Step,
        _ number: Int,
        _ request: @escaping @Sendable (PressureManager) async -> EvictionReport
    ) {
        let start = log.elapsed
        if let kind = step.action.mark { log.mark(kind, at: start, step.title) }
        let before = stage.machine.resident
        let manager = manager
        let report = Blocking.wait { await request(manager) }
        let after = stage.machine.resident
        let fall = before.flatMap { before in after.map { before - $0 } }
        log.add(report, number: number, title: step.title, at: start, rssFall: fall)
        noteSpillFile()
    }

    private func foreground() -> String {
        let manager = manager
        log.mark(.foreground, at: log.elapsed, "foreground")
        return note(Blocking.wait { await manager.enterForeground() })
    }

    /// Remembers the spill file's size if it never was larger.
    func noteSpillFile() {
        guard let size = manager.spillUsage.file else { return }
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
        case .interrupted: "interrupted at \(taken)"
        case .floor: "stopped at \(taken): less than \(MemoryFill.floor) are available here"
        }
    }

    private func waitForLevel(_ spec: AwaitSpec) -> String {
        let end = pace.clock.now() + spec.within
        while manager.level > spec.level, pace.clock.now() < end, pace.goesOn() { pace.sleep(.milliseconds(20)) }
        return manager.level <= spec.level ? "\(manager.level)" : "still \(manager.level)"
    }
}

extension Step.Action {
    /// How the step is marked on the curve.
    fileprivate var mark: Timeline.Mark.Kind? {
        switch self {
        case .warning: .warning
        case .background: .background
        default: nil
        }
    }
}
