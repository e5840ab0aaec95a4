import Foundation
import PressureKit

extension LimitedGroup {
    /// A process in a cgroup, and what it wrote.
    struct Outcome: Hashable, Sendable {
        /// Its exit status; `nil` when a signal ended it.
        var status: Int32?
        /// The signal that ended it.
        var signal: Int32?
        var output: String
        var errors: String
    }

    /// Starts a program in the cgroup: it is there before its first instruction.
    ///
    /// - Parameters:
    ///   - arguments: the program, found as the shell finds it, and its arguments.
    ///   - output: where its output goes; nowhere by default.
    ///   - input: where its input comes from; the tool's own by default.
    ///   - variables: what it has in its environment beside what the tool has.
    ///   - isTool: whether it is the tool itself, and is to end with this process.
    /// - Throws: what keeps the shell from being started.
    func start(
        _ arguments: [String],
        output: Any? = FileHandle.nullDevice,
        errors: Any? = FileHandle.nullDevice,
        input: Any? = nil,
        variables: [String: String] = [:],
        isTool: Bool = true
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The shell moves itself and then becomes the program.
        let moves = entrances.indices.map { "echo $$ > \"${\($0 + 1)}\" && " }.joined()
        let script = "\(moves)shift \(entrances.count) && exec \"$@\""
        process.arguments = ["-c", script, "sh"] + entrances + arguments
        let environment = isTool ? ParentProcess.environment() : ProcessInfo.processInfo.environment
        process.environment = environment.merging(variables) { _, new in new }
        process.standardOutput = output
        process.standardError = errors
        if let input { process.standardInput = input }
        try process.run()
        return process
    }

    /// Runs a program in the cgroup to its end.
    ///
    /// - Throws: what keeps the shell from being started.
    func run(_ arguments: [String]) throws -> Outcome {
        let output = Pipe()
        let errors = Pipe()
        let process = try start(arguments, output: output, errors: errors)
        let complaint = try Hearing(textOf: errors)
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let isExit = process.terminationReason == .exit
        return Outcome(
            status: isExit ? process.terminationStatus : nil,
            signal: isExit ? nil : process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: complaint.text
        )
    }
}
