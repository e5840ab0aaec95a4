import ArgumentParser

/// `pressuresim status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say how a running process stands: level, cause, headroom, caches by tier.",
        discussion: Prose.flowing(
            """
            Names of controllers and caches, bytes and counts; never what is in them. A process with very many controllers or
            caches leaves some out, and says how many.

              pressuresim status 4711
              pressuresim status 4711 --json - | jq .status.bytes

            \(ControlArguments.status)
            """
        )
    )

    @OptionGroup var arguments: ControlArguments

    @Flag(help: "A line for every value; otherwise the many of a cache have one.")
    var all = false

    func run() async throws { try await arguments.carryOut("status", showsAll: all) }
}
