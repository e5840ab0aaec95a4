import Foundation
import Glibc
import PressureKit
import ScenarioLanguage

/// The further processes of a scenario with `processes: N`, as the first of them sees them: this tool once more for each, in
/// the same cgroup, with another seed.
final class NeighbourProcesses: Neighbourhood {
    private struct One {
        let number: Int
        let seed: UInt64
        let process: Process
        let ticket: StopSignal.Ticket
        let input: Pipe
        var held: ByteCount? = .zero
        var places: Set<String> = []
        var result: NeighbourResult?
        /// Nothing more will be heard of it.
        var isGone = false
    }

    private let state = ConditionLock([One]())
    private let stop: StopSignal

    var held: [ByteCount?] { state.withLock { $0.map(\.held) } }

    /// Everybody draws for himself.
    func tell(_ held: ByteCount) {}

    /// - Throws: ``EnvironmentRefusal`` when the scenario wants several processes where there can be only one.
    static func check(_ scenario: Scenario, file: String, _ stage: Stage) throws(EnvironmentRefusal) {
        guard scenario.processes > 1, !stage.pace.isVirtual, file == "-" else { return }
        throw EnvironmentRefusal(
            message: """
                The scenario is for \(scenario.processes) processes, and each of them reads it: play it from a file, not \
                from standard input.
                """
        )
    }

    /// Starts all but the first.
    ///
    /// - Throws: ``EnvironmentRefusal`` when one cannot be started.
    init(_ scenario: Scenario, file: String, stop: StopSignal) throws(EnvironmentRefusal) {
        self.stop = stop
        for number in 2...scenario.processes {
            do throws(EnvironmentRefusal) {
                try start(number, scenario, file)
            } catch {
                kill()
                throw error
            }
        }
    }

    private func start(_ number: Int, _ scenario: Scenario, _ file: String) throws(EnvironmentRefusal) {
        let seed = scenario.seed(ofProcess: number)
        // The number is for people who look at the processes.
        var arguments = ["run", file, "--seed", "\(seed)", "--neighbour", "\(number)"]
        for text in scenario.overrides { arguments += ["--set", text] }
        if let spill = scenario.spill.directory { arguments += ["--spill-directory", spill] }
        let process = Process.ofTool(arguments)
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw EnvironmentRefusal(
                message: "Process \(number) of the scenario could not be started: \(error.reason)."
            )
        }
        let ticket = stop.entrust(.child(process.processIdentifier))
        let one = One(number: number, seed: seed, process: process, ticket: ticket, input: input)
        state.withLock { $0.append(one) }
        do {
            try WorkerThread.spawn("neighbour \(number)") { [self] in listen(to: number, output.fileHandleForReading) }
        } catch {
            throw EnvironmentRefusal(error)
        }
    }

    /// Hears what one says until it ends.
    private func listen(to number: Int, _ output: FileHandle) {
        var text = ""
        while true {
            let data = output.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
            while let end = text.firstIndex(of: "\n") {
                if let word = NeighbourWord(text[..<end]) { note(word, of: number) }
                text.removeSubrange(...end)
            }
        }
        state.withLock { all in
            all[number - 2].isGone = true
            all[number - 2].held = nil
        }
    }

    private func note(_ word: NeighbourWord, of number: Int) {
        state.withLock { all in
            switch word {
            case .held(let bytes): all[number - 2].held = bytes
            case .at(let place): all[number - 2].places.insert(place.rawValue)
            case .ended(let result): all[number - 2].result = result
            }
        }
    }

    func meet(_ place: MeetingPlace) {
        while !stop.isSet {
            let haveCome = state.wait(atMost: .milliseconds(200)) { all in
                all.allSatisfy { $0.isGone || $0.places.contains(place.rawValue) } ? true : nil
            }
            if haveCome != nil { break }
        }
        for input in state.withLock({ $0.map(\.input) }) {
            try? input.fileHandleForWriting.write(contentsOf: Data("\(place.rawValue)\n".utf8))
        }
    }

    /// Waits for the end of all, and says how each has ended. Blocking.
    ///
    /// - Throws: ``EnvironmentRefusal`` when one could not play. What it said about it stands on standard error.
    func end() throws(EnvironmentRefusal) -> [RunRecord.Neighbour] {
        var ended: [RunRecord.Neighbour] = []
        for one in state.withLock(\.self) {
            one.process.waitUntilExit()
            stop.release(one.ticket)
            // What it said last may not have been heard yet.
            state.wait { all in all[one.number - 2].isGone ? () : nil }
            let result = state.withLock { $0[one.number - 2].result }
            let status = one.process.terminationStatus
            var neighbour = RunRecord.Neighbour(number: one.number, seed: one.seed, end: .finished, result: result)
            if one.process.terminationReason == .uncaughtSignal {
                neighbour.end = status == SIGKILL ? .killed : .failed("ended by signal \(status)")
            } else if status == ExitStatus.environmentRefused.rawValue, !stop.isSet {
                throw EnvironmentRefusal(message: "Process \(one.number) of the scenario could not play it.")
            } else if status != 0 || result == nil {
                neighbour.end = .failed("ended with status \(status)")
            }
            ended.append(neighbour)
        }
        return ended
    }

    /// Ends all of them at once, for a run that failed.
    func kill() {
        for one in state.withLock(\.self) {
            if one.process.isRunning { Glibc.kill(one.process.processIdentifier, SIGKILL) }
            one.process.waitUntilExit()
            stop.release(one.ticket)
        }
    }
}

extension Simulation {
    /// Plays the scenario here and in further processes, and adds to the record how those fared.
    func playWithNeighbours() async throws -> RunRecord {
        let processes = try await Blocking.run("neighbours") { [scenario, file, stage] in
            try NeighbourProcesses(scenario, file: file, stop: stage.stop)
        }
        var stage = stage
        stage.neighbourhood = processes
        do {
            var part = Simulation(scenario, file: file, progress: progress, stage: stage)
            part.entrant = entrant
            var record = try await part.runAlone()
            record.add(try await Blocking.run("neighbours") { try processes.end() })
            return record
        } catch {
            processes.kill()
            throw error
        }
    }
}
