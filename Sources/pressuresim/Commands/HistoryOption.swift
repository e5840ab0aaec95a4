import ArgumentParser

/// `--append` and `--commit`: a file that keeps runs.
struct HistoryOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Add this run to a file of runs, one line of JSON each.", valueName: "path"),
        completion: .file(extensions: ["jsonl"])
    )
    var append: String?

    @Option(help: ArgumentHelp("Say in that line what was measured.", valueName: "revision"))
    var commit: String?

    /// What is wrong with them; `nil` if nothing is.
    ///
    /// - Parameter html: the page that tells the commit as well.
    func objection(html: String?) -> String? {
        guard commit != nil, append == nil, html == nil else { return nil }
        return "--commit is written by --append and --html: give one of them."
    }

    /// The runs that were kept before this one, of every command.
    ///
    /// - Throws: status 2 for a file that is no history.
    func kept() throws -> [BenchRun] {
        do { return try append.map { path throws(BenchHistory.Unreadable) in try BenchHistory.read(path) } ?? [] } catch
        {
            throw CommandOutput.fail("\(error)", .wrongInput)
        }
    }

    /// Adds a run, if that was asked for.
    ///
    /// - Throws: status 3 when the file cannot be written.
    func keep(_ run: BenchRun) throws {
        guard let append else { return }
        do { try BenchHistory.append(run, to: append) } catch {
            let message = "pressuresim: \(append) cannot be written: \(error.reason). Name another file."
            throw CommandOutput.fail(message, .environmentRefused)
        }
    }
}
