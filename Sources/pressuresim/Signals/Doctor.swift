import Foundation
import PressureKit

/// Looks at what this process has to go by when memory gets short.
struct Doctor: Sendable {
    var context = SignalContext()
    var clock: any MonotonicClock = SystemClock()
    /// Waits between two looks: a crossing counts when it is still there a moment later.
    var pause: @Sendable (Duration) -> Void = Pause.sleep
    /// Says where the library would spill, or why it could not.
    var spill: @Sendable () -> Diagnosis.Spill = Diagnosis.Spill.current

    /// Opens all signals as an app does by default, arms them, and looks. Blocks for less than a second.
    ///
    /// - Throws: `PressureError` where not even one signal can be used.
    func diagnose() throws(PressureError) -> Diagnosis {
        let sources = try PressureSource.automatic.open(in: context)
        let monitor = try PressureMonitor(sources: sources, thresholds: context.thresholds, clock: clock) { _ in }
        let loop = try EventLoop()
        for source in sources { source.attach(to: loop) }
        defer { for source in sources { source.detach(from: loop) } }
        for _ in 0..<3 {
            monitor.tick()
            pause(.milliseconds(110))
        }
        monitor.tick()
        return Diagnosis(
            level: monitor.level,
            score: monitor.score,
            headroom: monitor.headroom,
            votes: monitor.votes,
            statuses: monitor.statuses,
            spill: spill()
        )
    }
}

/// What the doctor found.
struct Diagnosis: Sendable {
    /// Where values would go.
    enum Spill: Hashable, Sendable {
        case directory(path: String, from: String)
        case refused(String)

        /// As the library would choose here.
        static func current() -> Spill {
            do {
                let directory = try SpillDirectory.choose(
                    option: nil,
                    environment: ProcessInfo.processInfo.environment,
                    fileSystem: LinuxFileSystem(),
                    allowsRAM: false
                )
                return .directory(path: directory.path, from: directory.origin == .environment ? "TMPDIR" : "default")
            } catch {
                return .refused(error.message)
            }
        }
    }

    /// What an app's monitor would say now.
    var level: PressureLevel
    /// How bad it is, 0 … 1.
    var score: Double
    /// The bytes left of the limit that binds most.
    var headroom: Headroom?
    /// What each source says.
    var votes: [PressureClassifier.Vote]
    /// What works and what does not.
    var statuses: [SignalStatus]
    /// Where values would go.
    var spill: Spill

    /// The limits there are, the one that binds most first.
    var limits: [PressureClassifier.Vote] {
        votes.filter { $0.reading?.headroom != nil }.sorted { $0.score > $1.score }
    }
}
