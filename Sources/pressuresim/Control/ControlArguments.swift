import ArgumentParser
import PressureKit

/// What every command to a running process takes.
struct ControlArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The process's number, or the path of its control socket.", valueName: "process"),
        completion: .shellCommand("ls /run/user/*/pressurekit /tmp/pressurekit-* 2>/dev/null | sed -n 's/\\.sock$//p'"),
        transform: ControlArguments.target
    )
    var target: ControlTarget

    @Option(
        help: ArgumentHelp("How long to wait for the answer. (default: 60s)", valueName: "duration"),
        transform: Amounts.duration
    )
    var timeout: Duration = .seconds(60)

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    /// The end of every help text.
    static let status = """
        The process must have been started with PRESSUREKIT_CONTROL=1 in its environment, or ask for a control socket in
        its configuration. Only its user and root may speak to it.

        Exit status: 0 done; 2 the input is wrong; 3 nothing listens there, or it refused or did not answer in time (the
        message says what to do).
        """

    /// Says something to the process, and prints the answer.
    ///
    /// - Parameter showsAll: whether every value has a line of its own.
    func carryOut(_ command: String, showsAll: Bool = false) async throws {
        try CommandOutput.check(json)
        let (target, limit) = (target, timeout)
        let answer = try await Blocking.run("control") { try ControlClient(target).ask(command, within: limit) }
        let reply = try ControlReply.read(answer, from: target)
        if json != "-" { try CommandOutput.print(ControlText(reply: reply, style: .output, showsAll: showsAll).text) }
        if let json { try CommandOutput.write(ControlReply.json(answer), to: json) }
    }

    private static func target(_ text: String) throws -> ControlTarget {
        do {
            return try ControlTarget(text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
