import ArgumentParser

/// `--progress`, of the commands that take minutes.
struct ProgressOption: ParsableArguments {
    @Flag(
        name: .customLong("progress"),
        help: "Say every few seconds how far it is, on standard error, where that is no terminal too."
    )
    var tells = false

    /// How far the command is, on standard error: one line on a terminal, and where it was asked for lines elsewhere.
    var progress: Progress {
        let progress = Progress.onTerminal()
        return tells && !progress.isTerminal ? Progress(isTerminal: false, linesEvery: .seconds(3)) : progress
    }
}
