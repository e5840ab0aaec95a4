import PressureKit
import SampleContent
import ScenarioLanguage

/// One run of a scenario from beginning to end: builds the world, plays, verifies, cleans up.
struct Simulation: Sendable {
    let scenario: Scenario
    /// The scenario's path: for messages, and for the relative paths in it.
    let file: String
    let progress: Progress
    var stage: Stage
    /// Which part of a scenario with `relaunch` steps this is; `nil` for all of one without.
    var life: Life?
    /// Whose order of eviction is played, and what it is asked; `nil` for the library's own.
    var entrant: Entrant?

    init(_ scenario: Scenario, file: String, progress: Progress = .quiet, stage: Stage = .real()) {
        self.scenario = scenario
        self.file = file
        self.progress = progress
        self.stage = stage
    }

    /// Plays the scenario. Suspends; all blocking work has threads of its own.
    ///
    /// - Throws: ``EnvironmentRefusal`` when this machine cannot play it.
    func run() async throws -> RunRecord {
        try Preflight(scenario, takesFills: !stage.pace.isVirtual).check()
        try NeighbourProcesses.check(scenario, file: file, stage)
        if !stage.pace.isVirtual { try CgroupRun.check(scenario) }
        noteStart()
        let record: RunRecord
        if scenario.timeline.lives.count > 1 {
            record = try await Relaunch(scenario: scenario, file: file, stage: stage).run { life in
                var part = self
                part.life = life
                return try await part.runAlone()
            }
        } else if scenario.processes > 1 {
            record = try await stage.pace.isVirtual ? playVirtualProcesses() : playWithNeighbours()
        } else {
            record = try await runAlone()
        }
        stage.events.beginLife(after: .zero, steps: 0)
        stage.events.note(
            "end",
            at: record.duration,
            [
                "lost": "\(record.tally.losses.count)", "verified": "\(record.verifiedAtEnd)",
                "interrupted": record.isInterrupted ? "yes" : nil,
            ]
        )
        return record
    }

    private func noteStart() {
        stage.events.note(
            "start",
            at: .zero,
            [
                "scenario": scenario.name, "seed": "\(scenario.seed)",
                "clock": stage.pace.isVirtual ? "virtual" : "real",
                "values": "\(scenario.valueCount)",
            ]
        )
    }

    /// Plays what this process is to play of the scenario.
    func runAlone() async throws -> RunRecord {
        var scenario = scenario
        if let life { scenario.timeline = scenario.timeline.lives[life.number] }
        var part = Simulation(scenario, file: file, progress: progress, stage: stage)
        part.life = life
        part.entrant = entrant
        return try await part.play()
    }

    private func play() async throws -> RunRecord {
        try await Self.refusing { try await playCast() }
    }

    /// What the library or a corpus refuses, this machine refuses.
    ///
    /// - Throws: ``EnvironmentRefusal`` for it, and whatever else is thrown.
    static func refusing(_ play: () async throws -> RunRecord) async throws -> RunRecord {
        do {
            return try await play()
        } catch let error as PressureError {
            throw EnvironmentRefusal(error)
        } catch let error as ContentError {
            throw EnvironmentRefusal(message: error.description)
        }
    }

    private func playCast() async throws -> RunRecord {
        let cast = try cast()
        progress.start(disk: stage.disk) { [weak recorder = cast.recorder] in recorder?.measure() }
        defer { progress.stop() }
        // Without signals the manager is run for those who speak to it.
        let isWatched = !stage.pace.isVirtual && (scenario.memory.isReal || ControlHint.isWanted)
        let manager = cast.manager
        let monitor = Task { if isWatched { try await manager.run() } }
        do {
            try await Blocking.run("scenario") { try perform(cast) }
        } catch {
            monitor.cancel()
            await manager.shutdown()
            throw error
        }
        monitor.cancel()
        // Then every reclaim is in the record.
        await manager.shutdown()
        try await monitor.value
        return cast.log.finished
    }

    /// What plays in a process, and what records it.
    struct Cast: Sendable {
        let manager: PressureManager
        let recorder: TimelineRecorder
        let log: RunLog
    }

    /// Makes them.
    func cast() throws -> Cast {
        let log = RunLog(scenario: scenario, file: file, clock: stage.pace.clock, events: stage.events)
        log.change { $0.isVirtual = stage.pace.isVirtual }
        let manager = try PressureManager(configuration: configuration(log))
        stage.virtualMachine?.house(manager)
        return Cast(manager: manager, recorder: TimelineRecorder(of: manager, log: log, on: stage), log: log)
    }

    /// The blocking part.
    func perform(_ cast: Cast) throws {
        do {
            try perform(cast.manager, cast.recorder, cast.log)
        } catch is Interrupted {
            cast.log.change { $0.isInterrupted = true }
        }
    }

    private func perform(_ manager: PressureManager, _ recorder: TimelineRecorder, _ log: RunLog) throws {
        progress.begin("making values")
        let versions = life.flatMap { $0.number > 0 ? $0.versions : nil }
        let saved = versions.map { versions in { (path: String) in versions[path] ?? 0 } }
        let world = try World(scenario, file: file, root: manager.root, pace: stage.pace, saved: saved) { made in
            progress.advance(to: made, of: scenario.valueCount)
            if stage.stop.isSet { throw Interrupted() }
        }
        entrant?.enter(world)
        if let life, life.number > 0 { restore(life, manager, log) }
        log.change { record in
            record.values = world.caches.count
            record.valueBytes = world.byteCount
            record.residentAtStart = stage.machine.resident
        }
        let player = try Player(
            scenario: scenario,
            file: file,
            world: world,
            manager: manager,
            log: log,
            stage: stage,
            recorder: recorder,
            progress: progress
        )
        let driving = scenario.memory.isReal ? stage.drive(manager, recorder) : nil
        defer { driving?.end() }
        if let neighbourhood = stage.neighbourhood {
            progress.begin("waiting for the other processes")
            neighbourhood.tell(manager.standing.tiers.resident)
            neighbourhood.meet(.made)
        }
        try player.play()
        if let life, !life.isLast, !stage.stop.isSet { return try endLife(life, manager, world, log) }
        if !stage.stop.isSet { try verify(player, log) }
        log.change { record in
            record.residentAtEnd = stage.machine.resident
            record.residentPeak = stage.machine.residentPeak
            record.isInterrupted = stage.stop.isSet
        }
    }

    /// The last look at every value, which is no part of the timeline.
    private func verify(_ player: Player, _ log: RunLog) throws {
        progress.begin("verifying every value")
        let start = stage.pace.clock.now()
        let tally = try player.verifyAll()
        player.noteSpillFile()
        log.change { record in
            record.verifiedAtEnd = tally.verified
            record.verification = stage.pace.clock.now() - start
            if !stage.pace.isVirtual { CgroupRun.own?.witness(&record) }
        }
    }

    /// Who records what no step asked for: changes of level, and reclaims of real pressure.
    private func observer(_ log: RunLog) -> ManagerObserver {
        ManagerObserver(
            decided: { decision in
                guard decision.levelChanged else { return }
                let cause = decision.cause
                if cause.levelAfter > cause.levelBefore { log.mark(.warning, at: log.elapsed, "\(cause.levelAfter)") }
                log.events.note(
                    "level",
                    at: log.elapsed,
                    ["from": "\(cause.levelBefore)", "to": "\(cause.levelAfter)", "cause": "\(cause)"]
                )
            },
            reclaimed: { report in
                guard report.cause.isReal else { return }
                let start = max(log.elapsed - report.duration, .zero)
                log.add(report, number: nil, title: report.cause.title, at: start, rssFall: nil)
            }
        )
    }

    func configuration(_ log: RunLog) -> PressureConfiguration {
        var configuration = PressureConfiguration()
        configuration.spillDirectory = scenario.spill.directory
        configuration.spillLimit = scenario.spill.limit
        configuration.allowsMemoryBackedSpill = scenario.spill.allowsMemory
        configuration.compressesLater = scenario.spill.compressesLater
        configuration.policy = scenario.policy?.policy
        configuration.observer = observer(log)
        if scenario.timeline.hasCalm, let skipping = stage.skipping {
            configuration.clock = skipping
            // Nobody needs the machine, says the scenario, whoever uses it meanwhile.
            if !scenario.memory.isReal { configuration.busyReading = { BusyReading(time: $0) } }
        }
        stage.configure(&configuration, for: scenario.memory)
        entrant?.configure(&configuration)
        return configuration
    }
}

extension RunLog {
    /// All of it, once nobody adds to it; what several threads have recorded is in order.
    var finished: RunRecord {
        var record = current
        record.steps.sort { $0.start < $1.start }
        record.timeline.marks.sort { $0.at < $1.at }
        return record
    }
}

extension MemorySpec.TakenSinceStart {
    /// The library's thresholds, which are parts of all memory, for what is available now.
    func thresholds(available: ByteCount, total: ByteCount) -> PressureThresholds {
        func band(_ band: Band) -> PressureThresholds.Band {
            PressureThresholds.Band(
                enter: Double((available - band.enter).bytes) / Double(total.bytes),
                leave: Double((available - band.leave).bytes) / Double(total.bytes)
            )
        }
        return PressureThresholds(warning: band(warning), critical: band(critical))
    }
}
