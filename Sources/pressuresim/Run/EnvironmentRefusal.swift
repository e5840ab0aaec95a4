import PressureKit
import ScenarioLanguage

/// This machine cannot play the scenario. The message says what to do; the exit status is 3.
struct EnvironmentRefusal: Error, Hashable, CustomStringConvertible {
    /// What is missing and what to do about it.
    var message: String

    init(message: String) { self.message = message }

    init(_ error: PressureError) { message = error.wordsForTool }

    var description: String { message }
}

/// Looks whether the machine has room for a scenario, before anything is taken.
struct Preflight {
    private let needed: ByteCount
    private let available: ByteCount?

    /// - Parameter takesFills: whether memory that a `fill` takes is really taken.
    init(_ scenario: Scenario, takesFills: Bool = true) {
        let container = ProcessMemory.containerAvailable
        let host = ProcessMemory.available
        self.init(scenario, available: [container, host].compactMap(\.self).min(), takesFills: takesFills)
    }

    /// With a number of available bytes to hold it against.
    init(_ scenario: Scenario, available: ByteCount?, takesFills: Bool = true) {
        let values = ByteCount.bytes(scenario.largestByteCountOfAll)
        let fills = ByteCount.bytes(scenario.timeline.largestFill.bytes * scenario.processes)
        let taken = takesFills ? values + fills + scenario.timeline.hogged : values
        needed = max(taken, takesFills ? scenario.memory.largestThreshold : .zero) + MemoryFill.floor
        self.available = available
    }

    /// - Throws: ``EnvironmentRefusal`` when there is too little memory.
    func check() throws(EnvironmentRefusal) {
        guard let available, available < needed else { return }
        throw EnvironmentRefusal(
            message: """
                The scenario takes up to \(needed), and \(available) are available here. Close other programs, raise \
                the container's memory limit, or make the scenario's counts, sizes and fills smaller.
                """
        )
    }
}

extension MemorySpec {
    /// The bytes whose absence makes the memory critical, if the scenario says.
    fileprivate var largestThreshold: ByteCount {
        if case .realBelowStart(let taken) = self { taken.critical.enter } else { .zero }
    }
}

extension [Step] {
    /// What all hogs take, should they hold it at the same time.
    fileprivate var hogged: ByteCount {
        reduce(.zero) { sum, step in
            switch step.action {
            case .hog(let spec): sum + spec.size
            case .together(let steps): sum + steps.hogged
            default: sum
            }
        }
    }

    /// The most that `fill` steps hold: each bounds what all of them hold together.
    fileprivate var largestFill: ByteCount {
        map { step -> ByteCount in
            switch step.action {
            case .fill(let spec): spec.atMost
            case .together(let steps): steps.largestFill
            default: .zero
            }
        }.max() ?? .zero
    }
}
