import ArgumentParser

/// `pressuresim background`.
struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "background",
        abstract: "Send a running process to the background, and say what it freed.",
        discussion: Prose.flowing(
            """
            Everything that is not in use is evicted, visible values last, and what was visible is remembered for pressuresim
            foreground. For a process that nobody will need for a while.

              pressuresim background 4711

            \(ControlArguments.status)
            """
        )
    )

    @OptionGroup var arguments: ControlArguments

    func run() async throws { try await arguments.carryOut("background") }
}
