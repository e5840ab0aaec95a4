import ArgumentParser

/// `pressuresim foreground`.
struct ForegroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foreground",
        abstract: "Bring a running process back from the background, and say what it restored.",
        discussion: Prose.flowing(
            """
            What was visible when the process went to the background is restored, the most recently used first, until memory is
            short again.

              pressuresim foreground 4711

            \(ControlArguments.status)
            """
        )
    )

    @OptionGroup var arguments: ControlArguments

    func run() async throws { try await arguments.carryOut("foreground") }
}
