import ArgumentParser
import ScenarioLanguage

/// What was probably meant by a command that there is not.
enum MistypedCommand {
    /// The names of the commands that help shows.
    static var names: [String] {
        // With key paths the compiler of Swift 6.3 crashes.
        Pressuresim.configuration.subcommands.map { $0.configuration }.filter { $0.shouldDisplay }
            .compactMap { $0.commandName }
    }

    /// A line that names the nearest command; `nil` where the first argument is one, or like none.
    static func suggestion(for arguments: [String]) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-"), !names.contains(word),
            let nearest = Spelling.nearest(to: word.lowercased(), among: names) ?? begun(by: word)
        else { return nil }
        return "Error: there is no command \"\(word)\"; did you mean \"\(nearest)\"?"
    }

    /// The one command that begins so.
    private static func begun(by word: String) -> String? {
        let candidates = names.filter { !word.isEmpty && $0.hasPrefix(word.lowercased()) }
        return candidates.count == 1 ? candidates[0] : nil
    }
}
