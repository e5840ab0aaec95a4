import ArgumentParser
import Foundation

/// How every command writes its facts and ends when it cannot.
enum CommandOutput {
    /// Writes the facts of a command to a file, or to standard output if the path is `-`.
    static func write(_ data: Data, to path: String) throws {
        do {
            if path == "-" {
                try FileHandle.standardOutput.write(contentsOf: data)
            } else {
                try data.write(to: URL(fileURLWithPath: path))
            }
        } catch {
            let reason = error.localizedDescription
            throw fail("pressuresim: \(path) cannot be written: \(reason) Name another file.", .environmentRefused)
        }
    }

    /// Prints a message and gives the error that ends the tool with a status.
    static func fail(_ message: String, _ status: ExitStatus) -> ExitCode {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        return status.exitCode
    }
}
