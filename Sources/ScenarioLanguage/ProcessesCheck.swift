import PressureSystem

extension Scenario {
    /// The most processes that play one scenario: as many curves as there are colours.
    static let mostProcesses = 8

    /// With less for each, the programs alone would fill the limit.
    static let leastForAProcess = ByteCount.mebibytes(32)

    /// The part of a limit that each process has if all have the same.
    var evenPart: ByteCount? { memory.cgroupLimit.map { .bytes($0.bytes / processes) } }

    /// The seed by which a process plays, counted from 1: each has its own content and its own order.
    package func seed(ofProcess number: Int) -> UInt64 { seed &+ UInt64(number - 1) }

    /// The same as a process plays it that is not the first.
    ///
    /// What is expected is expected of the first, and what takes memory from all is started by it.
    package var ofANeighbour: Scenario {
        var scenario = self
        scenario.timeline = timeline.ofANeighbour
        scenario.expectations = []
        return scenario
    }

    /// What all processes may hold in memory together, in a cgroup never more than its limit.
    package var largestByteCountOfAll: Int {
        // Several have a limit, so nothing overflows.
        min(largestByteCount * processes, memory.cgroupLimit?.bytes ?? .max)
    }
}

/// Whether several processes can play a scenario.
struct ProcessesCheck {
    private let processes: Int
    private let limit: ByteCount?
    private let timeline: [Step]

    init(_ processes: Int?, _ memory: MemorySpec?, _ timeline: [Step]) {
        self.processes = processes ?? 1
        self.limit = memory?.cgroupLimit
        self.timeline = timeline
    }

    /// Reports what keeps them from it, at the key.
    func isRight(_ section: Section) -> Bool {
        guard processes > 1, let problem else { return true }
        section.report("processes", found: problem.found, allowed: problem.allowed)
        return false
    }

    private var problem: (found: String, allowed: String)? {
        let found = "\(processes) processes"
        guard let limit else {
            return ("\(found) without a limit that they share", "several with memory: {cgroup_limit: …}")
        }
        let most = limit.bytes / Scenario.leastForAProcess.bytes
        if processes > most {
            return ("\(found) in a cgroup of \(limit)", "at most \(most): \(Scenario.leastForAProcess) for each")
        }
        if timeline.hasRelaunch { return ("\(found) and a relaunch", "several in a timeline without relaunch") }
        return nil
    }
}

extension [Step] {
    fileprivate var hasRelaunch: Bool { contains { if case .relaunch = $0.action { true } else { false } } }

    fileprivate var ofANeighbour: [Step] {
        map { step in
            var step = step
            switch step.action {
            case .hog(let spec): step.action = .wait(.seconds(Double(spec.size.bytes) / spec.rate))
            case .together(let steps): step.action = .together(steps.ofANeighbour)
            default: break
            }
            return step
        }
    }
}
