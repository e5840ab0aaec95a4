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
    /// Told to end by ^C or another signal before it was done: as shells count it, 128 and the number of SIGINT.
    case interrupted = 130

    var exitCode: ExitCode { ExitCode(rawValue) }
}
