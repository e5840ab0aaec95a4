import ArgumentParser
import PressureKit

/// `pressuresim evict`.
struct EvictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Have a running process free so many bytes, and say what it freed.",
        discussion: Prose.flowing(
            """
            Caches are evicted without warning anybody: values that exist elsewhere already first. Values in use stay.

              pressuresim evict 4711 256MiB

            \(ControlArguments.status)
            """
        )
    )

    @OptionGroup var arguments: ControlArguments

    @Argument(
        help: ArgumentHelp("How much to free, such as 256MiB.", valueName: "size"),
        transform: Amounts.size
    )
    var size: ByteCount

    func run() async throws { try await arguments.carryOut("evict \(size.bytes)") }
}
