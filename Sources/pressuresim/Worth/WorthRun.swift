import Foundation
import Glibc
import PressureKit

/// Measures one contender once: its processes in a cgroup of their own, looked at from outside.
struct WorthRun: Sendable {
    var kind: WorthKind
    var cell: WorthCell
    var content: WorthContent
    var swing: WorthSwing?
    var source = WorthSource()
    var seed: UInt64 = 1
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// How long a cache may take to be filled, and how long the processes may take to end, in seconds.
    private static let patience = (fill: 180.0, end: 20.0)

    /// Blocks until the processes have ended, whichever way. Their cgroup is gone then.
    ///
    /// - Parameter bounds: of each process's LRU.
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made, or a process cannot do its work.
    func play(_ contender: WorthContender, bounds: [ByteCount], _ times: WorthPlan.Times) throws -> WorthOutcome {
        // A process that was killed does not hear what time counts.
        signal(SIGPIPE, SIG_IGN)
        let limited = try LimitedGroup(limit: cell.limit)
        return try limited.removedAfter {
            let processes = try (0..<kind.processes).map { index in
                let bound = index < bounds.count ? bounds[index] : .zero
                return try WorthProcess(job(contender, bound, index, times), in: limited, tool)
            }
            let watch = Watch(processes: processes, group: limited.group)
            let start = SystemClock().now()
            let isFull = watch.until(seconds: Self.patience.fill) { processes.allSatisfy(\.isReady) }
            let now = SystemClock().now()
            let warm = times.warm(afterFilling: (now - start).seconds)
            let from = now + .seconds(warm)
            let window = WorthWindow(
                start: now.nanoseconds,
                from: from.nanoseconds,
                to: (from + .seconds(times.measured)).nanoseconds
            )
            if isFull {
                for process in processes { process.go(window) }
                let patience = warm + times.measured + Self.patience.end
                _ = watch.until(seconds: patience) { processes.allSatisfy(\.hasEnded) }
            }
            // Nobody who has not ended by now will.
            limited.remove()
            for process in processes { process.wait() }
            return try outcome(contender, watch, window)
        }
    }

    /// What the process with an index is to do.
    func job(_ contender: WorthContender, _ bound: ByteCount, _ index: Int, _ times: WorthPlan.Times) -> WorthJob {
        let count = max(cell.values / kind.processes, 1)
        return WorthJob(
            contender: contender,
            bound: bound,
            content: content,
            firstKey: min(index * count, max(cell.values - count, 0)),
            count: count,
            fillCount: times.isSteady ? count : cell.limit.bytes / kind.processes / cell.valueSize.bytes,
            zipf: cell.zipf,
            readers: cell.readers,
            seed: seed &+ UInt64(index),
            swing: swing,
            pause: kind.pause(index)?.nanoseconds,
            repeats: kind.repeats(index),
            source: source
        )
    }

    private func outcome(_ contender: WorthContender, _ watch: Watch, _ window: WorthWindow) throws -> WorthOutcome {
        var outcome = WorthOutcome(contender: contender)
        let findings = watch.processes.compactMap(\.findings)
        if let failed = watch.processes.first(where: { $0.exitStatus.map { $0 != 0 } ?? false }) {
            throw EnvironmentRefusal(
                message: """
                    A process of the measurement ended with \(failed.exitStatus ?? -1): \
                    \(failed.complaint.trimmingCharacters(in: .whitespacesAndNewlines))
                    """
            )
        }
        guard findings.count == watch.processes.count else {
            outcome.end = watch.kills > 0 ? .killed : .stuck
            return outcome
        }
        var latencies = Latencies()
        var loads = 0
        for part in findings {
            latencies.add(part.latencies)
            loads += part.loads
            outcome.wrong += part.wrong
            outcome.failed += part.failed
            outcome.complaints += part.complaints.prefix(max(5 - outcome.complaints.count, 0))
            guard let library = part.library else { continue }
            if outcome.library == nil { outcome.library = library } else { outcome.library? += library }
        }
        outcome.figures = WorthFigures(latencies, loads: loads, watch.sights, window, limit: cell.limit)
        outcome.curve = WorthCurve(watch.processes.map(\.ticks), watch.sights, window)
        return outcome
    }

    /// Looks at the cgroup ten times a second while it waits.
    private final class Watch {
        let processes: [WorthProcess]
        private let group: MemoryGroup
        private(set) var sights: [WorthCurve.Sight] = []
        /// How many processes the kernel has killed.
        private(set) var kills = 0

        init(processes: [WorthProcess], group: MemoryGroup) {
            self.processes = processes
            self.group = group
        }

        /// Blocks until something is so, or it never will be: whether it is.
        func until(seconds: Double, _ condition: () -> Bool) -> Bool {
            let clock = SystemClock()
            let end = clock.now() + .seconds(seconds)
            while true {
                // First: a process that was killed has ended as well.
                kills = max(kills, group.kills ?? 0)
                if condition() { return true }
                if kills > 0 || clock.now() > end || processes.contains(where: \.hasFailed) { return false }
                look(clock.now())
                Pause.sleep(.milliseconds(100))
            }
        }

        private func look(_ now: MonotonicInstant) {
            guard let usage = group.usage?.bytes else { return }
            let stat = group.fields(of: "memory.stat")
            let anonymous = stat["total_rss"] ?? stat["anon"] ?? 0
            sights.append(WorthCurve.Sight(at: now.nanoseconds, usage: usage, anonymous: anonymous))
        }
    }
}

/// A process in the cgroup, and what was heard of it.
final class WorthProcess: Sendable {
    private struct State {
        var isReady = false
        var ticks: [WorthCurve.Tick] = []
        var findings: WorthFindings?
    }

    private final class Account: Sendable {
        let state = Lock(State())

        func note(_ news: WorthNews) {
            state.withLock { state in
                switch news {
                case .ready: state.isReady = true
                case .reads(let at, let count): state.ticks.append(.init(at: at, count: count))
                case .done(let findings): state.findings = findings
                }
            }
        }
    }

    private let process: Process
    private let input = Pipe()
    private let news: Hearing<Void>
    private let errors: Hearing<String>
    private let account = Account()

    /// Starts it in the cgroup.
    ///
    /// - Throws: what keeps it from being started.
    init(_ job: WorthJob, in limited: LimitedGroup, _ tool: URL) throws {
        let (output, errors) = (Pipe(), Pipe())
        let text = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
        process = try limited.start(
            [tool.path, "worth", "--child", text],
            output: output,
            errors: errors,
            input: input
        )
        news = try Hearing(output) { [account] in Self.listen($0, account.note) }
        self.errors = try Hearing(textOf: errors)
    }

    /// Whether its cache is full.
    var isReady: Bool { account.state.withLock(\.isReady) }
    var ticks: [WorthCurve.Tick] { account.state.withLock(\.ticks) }
    var findings: WorthFindings? { account.state.withLock(\.findings) }
    /// What it wrote to standard error; empty while it runs.
    var complaint: String { errors.result ?? "" }

    /// Whether it has ended, whichever way.
    var hasEnded: Bool { !process.isRunning }

    /// Whether it has ended before it had found anything.
    var hasFailed: Bool { hasEnded && exitStatus != 0 }

    /// `nil` while it runs, and when a signal ended it.
    var exitStatus: Int32? {
        hasEnded && process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Tells it what time counts.
    func go(_ window: WorthWindow) {
        guard let line = try? JSONEncoder().encode(window) else { return }
        // If it is gone, that is seen elsewhere.
        try? input.fileHandleForWriting.write(contentsOf: line + Data("\n".utf8))
    }

    /// Blocks until it has ended, and all that it said has been heard.
    func wait() {
        process.waitUntilExit()
        news.wait()
        errors.wait()
    }

    private static func listen(_ file: FileHandle, _ note: (WorthNews) -> Void) {
        var rest = Data()
        // Not read(upToCount:), which waits for as much.
        while case let chunk = file.availableData, !chunk.isEmpty {
            rest += chunk
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if let news = try? JSONDecoder().decode(WorthNews.self, from: rest[..<end]) { note(news) }
                rest = Data(rest[(end + 1)...])
            }
        }
    }
}
