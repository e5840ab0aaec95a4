import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim watch`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show this machine's pressure signals live: levels, headroom, causes.",
        discussion: Prose.flowing(
            """
            What an app's monitor would see and decide here, redrawn five times a second on a terminal; in a pipe a line a
            second, and one for each decision. ^C ends it.

              pressuresim watch
              pressuresim watch --duration 60s > night.log

            Exit status: 0 ended as asked; 2 the input is wrong; 3 no signal can be used (the message says why).
            """
        )
    )

    @Option(
        help: ArgumentHelp("How long to watch; otherwise until ^C.", valueName: "duration"),
        transform: Amounts.duration
    )
    var duration: Duration?

    @Option(
        help: ArgumentHelp("Write what was last seen as JSON to this file; - is standard output.", valueName: "path"),
        completion: .file(extensions: ["json"])
    )
    var json: String?

    func run() async throws {
        try CommandOutput.check(json)
        let stop = StopSignal()
        stop.takeOverSignals()
        let watcher = try Watcher(sources: ToolSources.open())
        try watcher.begin()
        let isTerminal = Terminal.canRedraw(STDOUT_FILENO)
        let screen = WatchScreen(isTerminal: isTerminal, isQuiet: json == "-")
        let limit = duration
        try await Blocking.run("watch") {
            screen.begin()
            defer { screen.end() }
            let interval = isTerminal ? Duration.milliseconds(200) : .seconds(1)
            var left = limit
            while left.map({ $0 > .zero }) ?? true {
                watcher.refresh()
                stop.waitUntilSet(atMost: left.map { min($0, interval) } ?? interval)
                if stop.isSet { break }
                left = left.map { $0 - interval }
                guard screen.show(watcher) else { break }
            }
        }
        watcher.end()
        guard let json else { return }
        try CommandOutput.write(CommandJSON.encode(WatchJSON(watcher.frame)), to: json)
    }
}
