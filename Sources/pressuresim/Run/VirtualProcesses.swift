import PressureKit
import ScenarioLanguage

/// The processes of a scenario with `processes: N` in virtual time: a manager for each, side by side in this process, on one
/// imagined machine and below one limit.
final class VirtualProcesses: Sendable {
    private struct State {
        var places: [MeetingPlace: Set<Int>] = [:]
        var ended: Set<Int> = []
    }

    /// One of them as it sees the others.
    struct Member: Neighbourhood {
        /// Counts from 0.
        let index: Int
        let all: VirtualProcesses

        /// The first one draws for all.
        var held: [ByteCount?] { index == 0 ? all.heldByOthers : [] }

        /// Everybody is looked at where it is.
        func tell(_ held: ByteCount) {}

        func meet(_ place: MeetingPlace) { all.meet(place, index) }
    }

    let parts: [Simulation]
    private let machines: [VirtualMachine]
    private let pace: any Pace
    private let stop: StopSignal
    private let state = Lock(State())

    /// How often somebody looks whether the others have come.
    private static let patience = Duration.milliseconds(1)

    /// - Precondition: The simulation's time is virtual.
    init(_ first: Simulation) {
        pace = first.stage.pace
        stop = first.stage.stop
        let board = InMemoryBoard { [pace = first.stage.pace] in (pace as? VirtualPace)?.repeatNow() }
        var parts = [first]
        for number in 2...first.scenario.processes {
            let seed = first.scenario.seed(ofProcess: number)
            guard let stage = first.stage.neighbour(seed: seed) else { break }
            var scenario = first.scenario.ofANeighbour
            scenario.seed = seed
            var part = Simulation(scenario, file: first.file, stage: stage)
            part.entrant = first.entrant?.companion()
            parts.append(part)
        }
        for index in parts.indices { parts[index].stage.board = board }
        self.parts = parts
        machines = parts.compactMap(\.stage.virtualMachine)
    }

    /// The part of each, who knows the others.
    var acquainted: [Simulation] {
        parts.indices.map { index in
            var part = parts[index]
            part.stage.neighbourhood = Member(index: index, all: self)
            return part
        }
    }

    private var heldByOthers: [ByteCount?] {
        let ended = state.withLock { $0.ended }
        return machines.indices.dropFirst().map { ended.contains($0) ? nil : machines[$0].values }
    }

    private func meet(_ place: MeetingPlace, _ index: Int) {
        state.withLock { _ = $0.places[place, default: []].insert(index) }
        while !stop.isSet, !haveCome(to: place) { pace.sleep(Self.patience) }
    }

    private func haveCome(to place: MeetingPlace) -> Bool {
        state.withLock { $0.places[place, default: []].union($0.ended).count == parts.count }
    }

    /// One of them has played, or could not.
    func end(_ index: Int) { state.withLock { _ = $0.ended.insert(index) } }
}

extension Simulation {
    /// Plays the scenario's processes side by side, and adds to the first one's record how the others fared.
    ///
    /// - Throws: ``EnvironmentRefusal`` when this machine cannot play it.
    func playVirtualProcesses() async throws -> RunRecord {
        try await Self.refusing { try await playSideBySide() }
    }

    private func playSideBySide() async throws -> RunRecord {
        let processes = VirtualProcesses(self)
        let parts = processes.acquainted
        let casts = try parts.map { try $0.cast() }
        progress.start(disk: stage.disk) { [weak recorder = casts[0].recorder] in recorder?.measure() }
        defer { progress.stop() }
        let failures = RunFailures()
        do {
            try await Blocking.run("scenario") {
                try stage.pace.parallel(parts.count) { index in
                    do { try parts[index].perform(casts[index]) } catch { failures.note(error) }
                    processes.end(index)
                }
            }
        } catch {
            failures.note(error)
        }
        for cast in casts { await cast.manager.shutdown() }
        try failures.rethrow()
        let records = casts.map(\.log.finished)
        var record = records[0]
        record.others = Array(records.dropFirst())
        record.add(
            record.others.enumerated().map { index, other in
                .init(number: index + 2, seed: other.scenario.seed, end: .finished, result: NeighbourResult(other))
            }
        )
        return record
    }
}
