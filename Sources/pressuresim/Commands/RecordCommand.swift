import ArgumentParser
import Foundation
import PressureKit
import ReportPages

/// `pressuresim record FILE`.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write down what this machine's pressure signals say, for replay.",
        discussion: Prose.flowing(
            """
            Records what an app's monitor would see here: memory left, stalled time, cgroup events. It looks as often as an
            app's would, so a quiet hour takes a few hundred lines. ^C ends it.

              pressuresim record night.signals
              pressuresim record burst.signals --duration 30s

            Exit status: 0 recorded; 2 the input is wrong; 3 a signal or the file cannot be used (the message says why).
            """
        )
    )

    @Argument(help: "Where to write; - is standard output. What is there is replaced.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("How long to record; otherwise until ^C.", valueName: "duration"),
        transform: Amounts.duration
    )
    var duration: Duration?

    @Option(
        help: ArgumentHelp("Write what was recorded as JSON to this file.", valueName: "path"),
        completion: .file(extensions: ["json"])
    )
    var json: String?

    func run() async throws {
        try CommandOutput.check(file, json)
        let stop = StopSignal()
        stop.takeOverSignals()
        let clock = SystemClock()
        let recorder: SignalRecorder
        do {
            recorder = try SignalRecorder(open(), start: clock.now())
        } catch {
            let message = "pressuresim: \(file) cannot be written: \(error.reason). Name another file."
            throw CommandOutput.fail(message, .environmentRefused)
        }
        let monitor = try PressureMonitor(
            sources: ToolSources.open(),
            clock: clock,
            observe: { if !recorder.note($0) { stop.set() } },
            deliver: { _ in }
        )
        try monitor.start()
        let limit = duration
        try await Blocking.run("record") { stop.waitUntilSet(atMost: limit) }
        monitor.stop()
        if let failure = recorder.failure, !recorder.isReaderGone {
            let message = "pressuresim: \(file) cannot be written: \(failure) Name another file."
            throw CommandOutput.fail(message, .environmentRefused)
        }
        try report(recorder.samples)
    }

    private func report(_ samples: Int) throws {
        if file != "-" { try CommandOutput.print("\(Quantities.count(samples, "sample")) in \(file)") }
        guard let json else { return }
        try CommandOutput.write(CommandJSON.encode(RecordJSON(file: file, samples: samples)), to: json)
    }

    private func open() throws -> FileHandle {
        if file == "-" { return .standardOutput }
        let url = URL(fileURLWithPath: file)
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }
}

/// What `record` did, for programs.
private struct RecordJSON: Encodable {
    var formatVersion = 1
    var command = "record"
    var file: String
    var samples: Int
}
