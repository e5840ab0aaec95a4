import ArgumentParser
import PressureKit

/// `pressuresim warn`.
struct WarnCommand: AsyncParsableCommand {
    /// How bad it is to be.
    enum Level: String, ExpressibleByArgument, CaseIterable {
        case warning, critical
    }

    static let configuration = CommandConfiguration(
        commandName: "warn",
        abstract: "Simulate a memory warning in a running process, and say what it freed.",
        discussion: Prose.flowing(
            """
            As if the system had warned: the app's delegate, its events and controllers are told, then caches are evicted.
            Without a size, warning frees a part of what is not in use, and critical all of it.

              pressuresim warn 4711
              pressuresim warn 4711 critical
              pressuresim warn 4711 warning 64MiB
              pressuresim warn /run/shop/control.sock critical --json -

            \(ControlArguments.status)
            """
        )
    )

    @OptionGroup var arguments: ControlArguments

    @Argument(help: "How bad it is to be: warning or critical.")
    var level = Level.warning

    @Argument(
        help: ArgumentHelp("How much to free, such as 64MiB.", valueName: "size"),
        transform: Amounts.size
    )
    var size: ByteCount?

    func run() async throws {
        let amount = size.map { " \($0.bytes)" } ?? ""
        try await arguments.carryOut("warn \(level.rawValue)\(amount)")
    }
}
