import PressureKit
import ScenarioLanguage

extension Player {
    /// Starts a process that takes memory and waits until it has it.
    func hog(_ spec: HogSpec) throws -> String {
        // In a cgroup of the scenario's own nobody else is endangered, and taking too much is what it is about.
        let outcome = try hogs.start(spec, isForced: scenario.memory.cgroupLimit != nil)
        return switch outcome {
        case .holds(let size, let process): "\(size) taken\(name(process))"
        case .slow(let size, let process): "only \(size) taken\(name(process)) so far"
        case .killed(let process): "killed by the kernel\(name(process))"
        }
    }

    /// Who it was; in virtual time nobody.
    private func name(_ process: Int32?) -> String { process.map { " by process \($0)" } ?? "" }
}
