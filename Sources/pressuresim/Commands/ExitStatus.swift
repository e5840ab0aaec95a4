import ArgumentParser

/// What the exit status says: the same for every command.
enum ExitStatus: Int32 {
    /// Done, and every expectation holds.
    case success = 0
    /// An expectation failed, or a value was lost.
    case expectationFailed = 1
    /// The input is wrong: the command line, or a file.
    case wrongInput = 2
    /// The environment refused: no memory, no spill directory, no threads.
    case environmentRefused = 3
    /// It was told to end before it had: what shells give to a process that SIGINT ended.
    case interrupted = 130

    var exitCode: ExitCode { ExitCode(rawValue) }
}
