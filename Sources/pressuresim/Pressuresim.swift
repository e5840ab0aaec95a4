import ArgumentParser

@main
struct Pressuresim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressuresim",
        abstract: "Plays memory-pressure scenarios against PressureKit and measures eviction and restore latency."
    )
}
