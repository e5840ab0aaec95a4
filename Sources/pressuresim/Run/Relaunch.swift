import Foundation
import PressureKit
import ScenarioLanguage

/// Plays the lives before the last one, and the last with what they left.
///
/// In real time each has a process of its own that is killed at its end. In virtual time they follow each other in this
/// process: the manager and all its controllers are let go, and others made; what is not in the saved state is gone all
/// the same.
struct Relaunch: Sendable {
    let scenario: Scenario
    let file: String
    let stage: Stage

    /// Runs the last life in this process, after the earlier ones.
    ///
    /// - Parameter play: plays a life in this process.
    /// - Throws: ``EnvironmentRefusal`` when a process cannot be started, or ended otherwise than it should.
    func run(_ play: (Life) async throws -> RunRecord) async throws -> RunRecord {
        let place = try TemporaryDirectory(
            in: scenario.spill.directory ?? TemporaryDirectory.usualPlace,
            option: "--spill-directory"
        )
        let directory = place.path
        let litter = stage.stop.entrust(.directory(directory))
        defer {
            place.remove()
            stage.stop.release(litter)
        }
        let last = scenario.timeline.lives.count - 1
        var before: [LifeRecord] = []
        for number in 0..<last {
            let life = Life(number: number, isLast: false, directory: directory, before: before)
            begin(life)
            if let cut = try await playEarly(life, play) { return told(cut, after: before) }
            before.append(try Life.record(number, in: directory))
            if !stage.pace.isVirtual { for event in before[number].events { stage.events.add(event) } }
        }
        let life = Life(number: last, isLast: true, directory: directory, before: before)
        begin(life)
        return told(try await play(life), after: before)
    }

    /// The log goes on where the lives before ended.
    private func begin(_ life: Life) {
        let duration = life.before.reduce(0) { $0 + $1.durationSeconds }
        stage.events.beginLife(after: .seconds(duration), steps: scenario.timeline.steps(before: life.number))
        guard life.number > 0 else { return }
        let saved = life.before[life.number - 1].savedCaches
        stage.events.note("relaunch", at: .zero, ["process": "\(life.number + 1)", "saved": "\(saved)"])
    }

    /// Plays a life that is not the last. Returns its record if the run was told to end meanwhile.
    private func playEarly(_ life: Life, _ play: (Life) async throws -> RunRecord) async throws -> RunRecord? {
        if stage.pace.isVirtual {
            let record = try await play(life)
            return record.isInterrupted ? record : nil
        }
        try await Blocking.run("life \(life.number + 1)") { try playAndKill(life) }
        guard stage.stop.isSet else { return nil }
        // What that process knew is gone with it.
        var record = RunRecord(scenario: scenario, file: file)
        record.isInterrupted = true
        return record
    }

    private func told(_ record: RunRecord, after lives: [LifeRecord]) -> RunRecord {
        var record = record
        record.prepend(lives)
        return record
    }

    /// Plays one life to its violent end.
    private func playAndKill(_ life: Life) throws {
        var arguments =
            ["run", file, "--seed", "\(scenario.seed)", "--life", "\(life.number)", "--state", life.directory]
        for text in scenario.overrides { arguments += ["--set", text] }
        if let spill = scenario.spill.directory { arguments += ["--spill-directory", spill] }
        if stage.events.isActive { arguments.append("--life-events") }
        let process = Process.ofTool(arguments)
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw EnvironmentRefusal(
                message: "Process \(life.number + 1) of the scenario could not be started: \(error.reason)."
            )
        }
        let ticket = stage.stop.entrust(.child(process.processIdentifier))
        defer { stage.stop.release(ticket) }
        let words = (try? errors.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        if stage.stop.isSet { return }
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL else {
            let said = String(decoding: words ?? Data(), as: UTF8.self)
            throw EnvironmentRefusal(
                message: "Process \(life.number + 1) of the scenario ended before it was to be killed: \(said)"
            )
        }
    }
}

extension Simulation {
    /// Plays one life that is not the last: at its end the state is saved, and the process killed.
    func runAndDie(_ life: Life) async throws {
        var part = self
        part.life = life
        _ = try await part.runAlone()
        // Not reached: `endLife` has killed the process.
        throw EnvironmentRefusal(message: "The process survived its own death.")
    }

    /// Saves the state, leaves a record, and kills the process: nothing is closed, written or told after that. In virtual
    /// time the process lives on, and nothing of this life is used any more.
    func endLife(_ life: Life, _ manager: PressureManager, _ world: World, _ log: RunLog) throws {
        let version = scenario.name
        let saved = Blocking.wait { () -> Result<StateReport, any Error> in
            do {
                return .success(try await manager.saveState(to: life.stateDirectory, version: version))
            } catch {
                return .failure(error)
            }
        }
        log.change { [elapsed = log.elapsed] record in record.duration = elapsed }
        let record = LifeRecord(
            log.finished,
            versions: world.versions,
            savedCaches: try saved.get().caches.count,
            events: stage.events.events
        )
        let path = Life.recordPath(life.number, in: life.directory)
        try JSONEncoder().encode(record).write(to: URL(fileURLWithPath: path))
        if !stage.pace.isVirtual { kill(getpid(), SIGKILL) }
    }

    /// Brings back what the life before saved. What is refused is a failure, and its values are lost.
    func restore(_ life: Life, _ manager: PressureManager, _ log: RunLog) {
        let version = scenario.name
        let restored = Blocking.wait { () -> Result<StateReport, any Error> in
            do {
                return .success(try await manager.restoreState(from: life.stateDirectory, version: version))
            } catch {
                return .failure(error)
            }
        }
        log.change { record in
            switch restored {
            case .success(let report): record.stateRestored = report.caches.count
            case .failure(let error): record.tally.fail("state", error)
            }
        }
    }
}

extension World {
    /// The versions of the values that were changed.
    var versions: [String: Int] {
        Dictionary(uniqueKeysWithValues: caches.map { ($0.path, $0.version) }).filter { $0.value > 0 }
    }
}
