import PressureKit

/// One run of a scenario from beginning to end: builds the world, plays, verifies, cleans up.
struct Simulation: Sendable {
    let scenario: Scenario
    /// The scenario's path: for messages, and for the relative paths in it.
    let file: String
    let progress: Progress
    /// Which part of a scenario with `relaunch` steps this is; `nil` for all of one without.
    var life: Life?

    init(_ scenario: Scenario, file: String, progress: Progress = .quiet) {
        self.scenario = scenario
        self.file = file
        self.progress = progress
    }

    /// Plays the scenario. Suspends; all blocking work has threads of its own.
    ///
    /// - Throws: ``EnvironmentRefusal`` when this machine cannot play it.
    func run() async throws -> RunRecord {
        try Preflight(scenario).check()
        try CgroupRun.check(scenario)
        guard scenario.timeline.lives.count > 1 else { return try await runAlone() }
        return try await Relaunch(scenario: scenario, file: file).run { life in
            var last = self
            last.life = life
            return try await last.runAlone()
        }
    }

    /// Plays what this process is to play of the scenario.
    func runAlone() async throws -> RunRecord {
        var scenario = scenario
        if let life { scenario.timeline = scenario.timeline.lives[life.number] }
        var part = Simulation(scenario, file: file, progress: progress)
        part.life = life
        return try await part.play()
    }

    private func play() async throws -> RunRecord {
        let log = RunLog(scenario: scenario, file: file)
        let configuration = configuration
        do {
            let manager = try PressureManager(configuration: configuration)
            let record = try await play(manager, log)
            return record
        } catch let error as PressureError {
            throw EnvironmentRefusal(error)
        } catch let error as ContentError {
            throw EnvironmentRefusal(message: error.description)
        }
    }

    private func play(_ manager: PressureManager, _ log: RunLog) async throws -> RunRecord {
        progress.start { [weak manager] in manager?.level }
        defer { progress.stop() }
        let events = manager.events
        let watcher = Task { await watch(events, log) }
        let monitor = Task { if scenario.memory.isReal { try await manager.run() } }
        do {
            try await Blocking.run("scenario") { try perform(manager, log) }
        } catch {
            monitor.cancel()
            await manager.shutdown()
            throw error
        }
        monitor.cancel()
        await manager.shutdown()
        // The events end with the manager; then every relief is in the record.
        await watcher.value
        try await monitor.value
        log.change { $0.steps.sort { $0.start < $1.start } }
        return log.current
    }

    /// The blocking part.
    private func perform(_ manager: PressureManager, _ log: RunLog) throws {
        progress.begin("making values")
        let versions = life.flatMap { $0.number > 0 ? $0.versions : nil }
        let saved = versions.map { versions in { (path: String) in versions[path] ?? 0 } }
        let world = try World(scenario, file: file, root: manager.root, saved: saved) { made in
            progress.advance(to: made, of: scenario.valueCount)
        }
        if let life, life.number > 0 { restore(life, manager, log) }
        log.change { record in
            record.values = world.caches.count
            record.valueBytes = world.byteCount
            record.residentAtStart = ProcessMemory.resident
        }
        let player = try Player(
            scenario: scenario,
            file: file,
            world: world,
            manager: manager,
            log: log,
            progress: progress
        )
        try player.play()
        if let life, !life.isLast { return try endLife(life, manager, world, log) }
        progress.begin("verifying every value")
        let start = SystemClock().now()
        let tally = try player.verifyAll()
        player.noteSpillFile()
        log.change { record in
            record.verifiedAtEnd = tally.verified
            record.verification = SystemClock().now() - start
            record.residentAtEnd = ProcessMemory.resident
            record.residentPeak = ProcessMemory.peak
            CgroupRun.own?.witness(&record)
        }
    }

    /// Records the reliefs that no step asked for: those of real pressure.
    private func watch(_ events: PressureEvents, _ log: RunLog) async {
        for await event in events {
            guard case .reliefFinished(let report) = event, report.cause.isReal else { continue }
            let start = log.elapsed - report.duration
            let title = "\(report.cause.levelAfter) from \(report.cause.origin.rawValue)"
            log.add(report, number: nil, title: title, at: max(start, .zero), rssFall: nil)
        }
    }

    private var configuration: PressureConfiguration {
        var configuration = PressureConfiguration()
        configuration.spillDirectory = scenario.spill.directory
        configuration.spillLimit = scenario.spill.limit
        configuration.allowsMemoryBackedSpill = scenario.spill.allowsMemory
        configuration.compressesLater = scenario.spill.compressesLater
        configuration.evictionOrder = scenario.policy ?? configuration.evictionOrder
        configuration.sources = scenario.memory.sources
        if case .realBelowStart(let taken) = scenario.memory,
            let available = ProcessMemory.available, let total = ProcessMemory.total
        {
            configuration.thresholds = taken.thresholds(available: available, total: total)
        }
        return configuration
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
