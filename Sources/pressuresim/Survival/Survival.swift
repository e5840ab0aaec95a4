import Foundation
import Glibc
import PressureKit

/// Runs the demonstration's two processes, one after the other, each in a cgroup of its own.
struct Survival: Sendable {
    var plan: SurvivalPlan
    var progress: Progress = .quiet
    /// Whether the processes tell on standard error what the library does, as it does it.
    var trace = false
    /// A program that runs in the same cgroup meanwhile, with its arguments; none if empty.
    var neighbour: [String] = []
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// How a process fared.
    struct Outcome: Hashable, Sendable {
        var mode: SurvivalMode
        /// The last that was heard of it.
        var news: SurvivalNews?
        /// What it wrote to standard error.
        var complaint: String
        /// Its exit status; `nil` when a signal ended it.
        var status: Int32?
        /// The signal that ended it.
        var signal: Int32?
        /// From its start to its end, of which loading the program is a part.
        var seconds: Double
        /// The most its cgroup used.
        var peak: ByteCount?
        /// What filled the cgroup when it was fullest.
        var fullest: SurvivalObserver.Sight
        /// How often the cgroup ran into its limit.
        var hits: Int?
        /// How many processes the kernel killed in the cgroup.
        var kills: Int?

        /// Whether the kernel killed it for memory.
        var wasKilled: Bool { signal == SIGKILL && (kills ?? 0) > 0 }

        /// Whether it did all it was to do, with nothing lost.
        func hasSurvived(_ plan: SurvivalPlan) -> Bool {
            guard status == 0, let news, news.isFinal else { return false }
            return news.tally.lost == 0 && news.tally.verifiedAtEnd + news.tally.refusedAtEnd == plan.count
        }
    }

    /// Blocks until the process has ended, whichever way. Its cgroup is gone then.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made.
    func run(_ mode: SurvivalMode) throws -> Outcome {
        progress.begin("\(mode.rawValue) PressureKit")
        let limited = try LimitedGroup(limit: plan.limit)
        return try limited.removedAfter { try run(mode, in: limited) }
    }

    private func run(_ mode: SurvivalMode, in limited: LimitedGroup) throws -> Outcome {
        let neighbour = neighbour.isEmpty ? nil : try limited.start(neighbour, isTool: false)
        defer { neighbour?.terminate() }
        let process = Process.ofTool(arguments(mode, limited.group), at: tool, with: limited.group)
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = trace ? FileHandle.standardError : errors
        let witness = try SurvivalObserver(limited.group)
        let start = SystemClock().now()
        try process.run()
        // If it was not handed on, nobody else will close it.
        if trace { try? errors.fileHandleForWriting.close() }
        let complaint = try Hearing(textOf: errors)
        let news = listen(output.fileHandleForReading)
        process.waitUntilExit()
        let isExit = process.terminationReason == .exit
        return Outcome(
            mode: mode,
            news: news,
            complaint: complaint.text,
            status: isExit ? process.terminationStatus : nil,
            signal: isExit ? nil : process.terminationStatus,
            seconds: (SystemClock().now() - start).seconds,
            peak: limited.group.peak,
            fullest: witness.end(),
            hits: limited.group.hits,
            kills: limited.group.kills
        )
    }

    private func arguments(_ mode: SurvivalMode, _ group: MemoryGroup) -> [String] {
        var arguments = [
            "survive", "--child", mode.rawValue, "--group", group.directory, "--group-version",
            "\(group.version.rawValue)", "--limit", "\(plan.limit.bytes)B", "--times", "\(plan.times)", "--rate",
            "\(plan.rate / 1e6)MB/s", "--value-size", "\(plan.valueSize.bytes)B",
        ]
        if trace { arguments.append("--trace") }
        #if Redis
        if let remote = plan.remote { arguments += ["--remote", remote.argument] }
        #endif
        if let directory = plan.spillDirectory { arguments += ["--spill-directory", directory] }
        if plan.usesPageCache { arguments.append("--page-cache") }
        if let outage = plan.outage {
            arguments += ["--outage", outage.file]
            if outage.isForEver { arguments.append("--outage-for-ever") }
        }
        return arguments
    }

    /// Reads what the process tells until it can tell no more.
    private func listen(_ file: FileHandle) -> SurvivalNews? {
        var last: SurvivalNews?
        var rest = Data()
        while let chunk = try? file.read(upToCount: 1 << 16), !chunk.isEmpty {
            rest += chunk
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if let news = try? JSONDecoder().decode(SurvivalNews.self, from: rest[..<end]) {
                    last = news
                    progress.advance(to: news.tally.loaded, of: plan.count)
                }
                rest = Data(rest[(end + 1)...])
            }
        }
        return last
    }
}
