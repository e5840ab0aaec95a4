import Foundation
import PressureKit

/// What `run` says when it was started so that others can speak to it.
enum ControlHint {
    private static var value: String? { ProcessInfo.processInfo.environment[ControlSocket.variable] }

    /// Whether it was.
    static var isWanted: Bool {
        ControlSocket.environment.place(environment: ProcessInfo.processInfo.environment) != nil
    }

    /// Says on standard error who listens: a scenario in a cgroup is played by a process of its own, whose number nobody
    /// would know.
    static func tell(isVirtual: Bool) {
        guard isWanted, let value else { return }
        guard !isVirtual else {
            return CommandOutput.complain("pressuresim: nobody can speak to a run in virtual time: hours take seconds.")
        }
        let isPath = !["", "1"].contains(value)
        CommandOutput.complain("listening: pressuresim status \(isPath ? value : "\(getpid())")")
    }
}
