import Foundation
import PressureKit

/// How long it takes from a crossing until the first byte is freed, with real signals in a real cgroup.
struct SignalsBench: Sendable {
    /// How many crossings of the headroom's threshold.
    var crossings: Int
    /// How many stalls.
    var stalls: Int
    /// Where the library spills, and where the file is that is read until tasks stall.
    var directory: String
    var progress: Progress = .quiet
    /// What is known so far, for whoever interrupts.
    let board = Board()
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// Half a minute.
    static func quick(_ directory: String) -> SignalsBench {
        SignalsBench(crossings: 20, stalls: 4, directory: directory)
    }

    /// Two minutes.
    static func full(_ directory: String) -> SignalsBench {
        SignalsBench(crossings: 100, stalls: 20, directory: directory)
    }

    /// Which signal is measured.
    enum Kind: String, CaseIterable, Sendable {
        /// The cgroup's limit against its usage, filled at 500 MB/s.
        case headroom
        /// Pressure stall information.
        case stall = "psi"

        /// The cgroup's limit. A small one makes reading a file stall.
        var limit: ByteCount { self == .headroom ? .mebibytes(256) : .mebibytes(64) }

        /// What the 99th percentile has to be, in milliseconds: for headroom DESIGN's goal; for PSI the window that its
        /// threshold is about, 2 s.
        var goal: BenchGoal { BenchGoal(.none, .atMost, self == .headroom ? 50 : 2000) }

        /// Stable, as all names of metrics.
        var metric: String { "signals_\(rawValue)_p99_ms" }
    }

    /// What was measured of one kind; the times are in milliseconds.
    struct Latencies: Hashable, Sendable, Codable {
        /// One for each crossing that was answered; 0 when it was seen coming.
        var milliseconds: [Double] = []
        /// Crossings that nothing was freed for.
        var unanswered = 0

        /// The time that this part of the crossings did not exceed; unanswered ones took for ever.
        func percentile(_ part: Double) -> Double? {
            let count = milliseconds.count + unanswered
            guard count > 0 else { return nil }
            let rank = Int((part * Double(count)).rounded(.up)) - 1
            return rank < milliseconds.count ? milliseconds.sorted()[max(rank, 0)] : .infinity
        }
    }

    /// Blocks until all is measured.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made, ``BenchRefusal`` when the process in it failed.
    func run() throws -> SignalsBenchReport {
        for kind in Kind.allCases {
            progress.begin("\(kind.rawValue) latency")
            let latencies = try measure(kind)
            board.note(latencies, of: kind)
        }
        return board.report
    }

    /// What a measurement under way has found.
    final class Board: Sendable {
        private let known = Lock<[Kind: Latencies]>([:])

        func note(_ latencies: Latencies, of kind: Kind) { known.withLock { $0[kind] = latencies } }

        var report: SignalsBenchReport { SignalsBenchReport(latencies: known.withLock { $0 }) }
    }

    private func measure(_ kind: Kind) throws -> Latencies {
        let limited = try LimitedGroup(limit: kind.limit)
        let samples = kind == .headroom ? crossings : stalls
        let outcome = try limited.removedAfter {
            try limited.run([
                tool.path, "signals-child", kind.rawValue, "--samples", "\(samples)", "--directory", directory,
                "--group", limited.group.directory, "--group-version", "\(limited.group.version.rawValue)",
            ])
        }
        guard outcome.status == 0,
            let latencies = try? JSONDecoder().decode(Latencies.self, from: Data(outcome.output.utf8))
        else {
            let end = outcome.signal.map { "ended by signal \($0)" } ?? "ended with \(outcome.status ?? -1)"
            throw BenchRefusal(description: "The process that measures \(kind.rawValue) \(end). \(outcome.errors)")
        }
        return latencies
    }
}
