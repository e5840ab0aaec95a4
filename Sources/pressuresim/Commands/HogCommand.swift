import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim hog`.
struct HogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hog",
        abstract: "Take memory at a stated rate up to a ceiling, hold it, and give it back.",
        discussion: Prose.flowing(
            """
            What a memory hog beside your app does to it. Every page is written, so that the kernel has to provide it. The
            hog ends by itself, and with ^C at any time.

              pressuresim hog --ceiling 300MiB
              pressuresim hog --ceiling 4GiB --rate 1GB/s --hold 30s

            It refuses to take so much that processes might be killed, and stops early when others take what it had
            counted on; --force overrules both. The kernel is told to kill the hog first, whatever happens.

            Exit status: 0 the ceiling was reached and held; 2 the input is wrong; 3 there is not enough memory (the
            message says how much there is), or it ran short before the ceiling was reached.
            """
        )
    )

    @Option(
        help: ArgumentHelp("The most to hold, such as 300MiB.", valueName: "size"),
        transform: Amounts.size
    )
    var ceiling: ByteCount

    @Option(
        help: ArgumentHelp("How fast to take it; MB is 10^6 bytes. (default: 500MB/s)", valueName: "rate"),
        transform: Amounts.rate
    )
    var rate: Double = 500e6

    @Option(
        help: ArgumentHelp("How long to hold it. (default: 10s)", valueName: "duration"),
        transform: Amounts.duration
    )
    var hold: Duration = .seconds(10)

    @Flag(help: "Write what compressors such as zram shrink to almost nothing; otherwise nothing can shrink it.")
    var compressible = false

    @Flag(help: "Take it even if processes may be killed for it.")
    var force = false

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    func run() async throws {
        try CommandOutput.check(json)
        if !force { try HogGuard.check(ceiling: ceiling, rooms: MemoryRoom.current()) }
        Hog.volunteerForKilling()
        let hog = Hog(
            pace: HogPace(rate: rate, ceiling: ceiling, hold: hold),
            content: compressible ? .compressible : .incompressible,
            isForced: force
        )
        let progress = Progress.onTerminal()
        let ledger = HogLedger()
        CutShort.reporting {
            progress.stop()
            try? tell(HogReport(hog: hog, outcome: ledger.outcome, wasInterrupted: true))
        }
        progress.begin("taking memory")
        progress.start { nil }
        let ceiling = ceiling.bytes
        let outcome = try await Blocking.run("hog") {
            hog.run(tell: { held in
                ledger.note(held)
                progress.advance(to: held.bytes, of: ceiling)
            })
        }
        progress.stop()
        let report = HogReport(hog: hog, outcome: outcome)
        try tell(report)
        if let room = outcome.stoppedBy {
            throw CommandOutput.fail("pressuresim: \(report.complaint(room))", .environmentRefused)
        }
    }

    private func tell(_ report: HogReport) throws {
        if json != "-" { try CommandOutput.print(report.text) }
        if let json { try CommandOutput.write(report.json(), to: json) }
    }
}
