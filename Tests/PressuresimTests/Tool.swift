import Foundation
import Testing

/// The tool as a process of its own.
enum Tool {
    /// How a run ended and what it wrote.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    /// The tool that `$PRESSURESIM` names, as an optimized one, or that was built together with the tests.
    static let url: URL? = {
        if let named = ProcessInfo.processInfo.environment["PRESSURESIM"] { return URL(fileURLWithPath: named) }
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let beside = executable.deletingLastPathComponent().appendingPathComponent("pressuresim")
        let built = packageDirectory.appendingPathComponent(".build/debug/pressuresim")
        return [beside, built].first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Starts the tool; what it writes is to be read from the pipes.
    static func start(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> (process: Process, output: Pipe, errors: Pipe) {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let tool: URL = try #require(url, "pressuresim has not been built")
        process.executableURL = tool
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        return (process, output, errors)
    }

    /// Runs the tool to its end.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        let (process, output, errors) = try start(arguments, environment: environment)
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self)
        )
    }

    /// What a run with `--json -` wrote.
    static func json(_ outcome: Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }
}

extension Tool {
    /// Runs the tool with its standard output somewhere else.
    static func run(_ arguments: [String], output: FileHandle) throws -> Outcome {
        let process = Process()
        let tool: URL = try #require(url, "pressuresim has not been built")
        process.executableURL = tool
        process.arguments = arguments
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: "",
            errors: String(decoding: complaints, as: UTF8.self)
        )
    }
}
