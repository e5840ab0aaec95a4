import Foundation
import PressureKit

/// Plays the lives before the last one, each in a process of its own that is killed at its end.
struct Relaunch: Sendable {
    let scenario: Scenario
    let file: String

    /// Runs the last life in this process with what the earlier ones left, which are played first.
    ///
    /// - Throws: ``EnvironmentRefusal`` when a process cannot be started, or ended otherwise than it should.
    func run(_ last: (Life) async throws -> RunRecord) async throws -> RunRecord {
        let base = scenario.spill.directory ?? "/var/tmp"
        let directory = "\(base)/pressuresim-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw EnvironmentRefusal(
                message: "No directory for the saved state in \(base). Name another one (--spill-directory)."
            )
        }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let count = scenario.timeline.lives.count
        for number in 0..<count - 1 {
            try await Blocking.run("life \(number + 1)") { try play(number, in: directory) }
        }
        let before = try Life.records(before: count - 1, in: directory)
        let life = Life(number: count - 1, isLast: true, directory: directory, before: before)
        var record = try await last(life)
        record.prepend(before)
        return record
    }

    /// Plays one life to its violent end.
    private func play(_ number: Int, in directory: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["run", file, "--seed", "\(scenario.seed)", "--life", "\(number)", "--state", directory]
        if let spill = scenario.spill.directory { process.arguments? += ["--spill-directory", spill] }
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw EnvironmentRefusal(message: "Process \(number + 1) of the scenario could not be started: \(error)")
        }
        let words = (try? errors.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL else {
            let said = String(decoding: words ?? Data(), as: UTF8.self)
            throw EnvironmentRefusal(
                message: "Process \(number + 1) of the scenario ended before it was to be killed: \(said)"
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

    /// Saves the state, leaves a record, and kills the process: nothing is closed, written or told after that.
    func endLife(_ life: Life, _ manager: PressureManager, _ world: World, _ log: RunLog) throws {
        let version = scenario.name
        let saved = Blocking.wait { () -> Result<StateReport, any Error> in
            do {
                return .success(try await manager.saveState(to: life.stateDirectory, version: version))
            } catch {
                return .failure(error)
            }
        }
        let record = LifeRecord(log.current, versions: world.versions, savedCaches: try saved.get().caches.count)
        let path = Life.recordPath(life.number, in: life.directory)
        try JSONEncoder().encode(record).write(to: URL(fileURLWithPath: path))
        kill(getpid(), SIGKILL)
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
