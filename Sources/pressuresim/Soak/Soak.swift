import Foundation
import Glibc
import PressureKit

/// Runs the soak's process in a cgroup of its own, with a neighbour, and listens.
final class Soak: Sendable {
    private let plan: SoakPlan
    private let neighbour: [String]
    private let progress: Progress
    private let tool: URL
    private let outcome = Lock<Outcome?>(nil)
    private let states = Lock<TemporaryDirectory?>(nil)

    /// - Parameters:
    ///   - neighbour: a program that runs in the same cgroup meanwhile, with its arguments; none if empty.
    ///   - tool: the tool to test; this one by default.
    init(_ plan: SoakPlan, neighbour: [String] = [], progress: Progress = .quiet, tool: URL? = nil) {
        self.plan = plan
        self.neighbour = neighbour
        self.progress = progress
        self.tool = tool ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    }

    /// What is known so far, for who is interrupted; `nil` before the process has begun.
    var known: Outcome? { outcome.withLock { $0 } }

    /// Removes the saved states, for a tool that is about to end.
    func clear() { states.withLock { $0 }?.remove() }

    /// How it went.
    struct Outcome: Hashable, Sendable {
        var windows: [SoakWindow] = []
        /// The last that was heard of the process.
        var news: SoakNews?
        /// What it wrote to standard error.
        var complaint = ""
        /// Its exit status; `nil` when a signal ended it.
        var status: Int32?
        /// The most its cgroup used.
        var peak: ByteCount?
        /// How many processes the kernel killed in the cgroup.
        var kills: Int?
        /// Whether the neighbour was there to the end; `nil` without one.
        var hadNeighbour: Bool?
    }

    /// Blocks until the process has ended, whichever way. Its cgroup is gone then.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made.
    func run() throws -> Outcome {
        progress.begin("soak")
        let limited = try LimitedGroup(limit: .bytes(plan.limitBytes))
        return try limited.removedAfter { try run(in: limited) }
    }

    private func run(in limited: LimitedGroup) throws -> Outcome {
        let neighbour = neighbour.isEmpty ? nil : try limited.start(neighbour, isTool: false)
        defer { neighbour?.terminate() }
        let states = try TemporaryDirectory(
            in: plan.directory ?? TemporaryDirectory.usualPlace,
            option: "--spill-directory"
        )
        self.states.withLock { $0 = states }
        defer { states.remove() }
        let process = Process.ofTool(try arguments(limited.group, states), at: tool, with: limited.group)
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let complaint = try Hearing(textOf: errors)
        self.outcome.withLock { $0 = Outcome() }
        let witness = try SoakObserver(process.processIdentifier, in: limited.group)
        listen(output.fileHandleForReading, witness)
        witness.end()
        process.waitUntilExit()
        var outcome = known ?? Outcome()
        outcome.complaint = complaint.text
        outcome.status = process.terminationReason == .exit ? process.terminationStatus : nil
        outcome.peak = limited.group.peak
        outcome.kills = limited.group.kills
        outcome.hadNeighbour = neighbour?.isRunning
        return outcome
    }

    private func arguments(_ group: MemoryGroup, _ states: TemporaryDirectory) throws -> [String] {
        var plan = plan
        plan.states = states.path
        let text = try String(decoding: JSONEncoder().encode(plan), as: UTF8.self)
        return [
            "soak", "--child", text, "--group", group.directory, "--group-version", "\(group.version.rawValue)",
        ]
    }

    /// Reads what the process tells until it can tell no more.
    private func listen(_ file: FileHandle, _ witness: SoakObserver) {
        var rest = Data()
        while true {
            // What is there already: a read of so many bytes would wait for all of them, and all windows come at once.
            let chunk = file.availableData
            guard !chunk.isEmpty else { return }
            rest += chunk
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if let news = try? JSONDecoder().decode(SoakNews.self, from: rest[..<end]) { note(news, witness) }
                rest = Data(rest[(end + 1)...])
            }
        }
    }

    private func note(_ news: SoakNews, _ witness: SoakObserver) {
        // What comes last says how all ended, and is no window.
        let window = news.isFinal ? nil : SoakWindow(news, witness.take(), machineLoad: Self.machineLoad)
        outcome.withLock { outcome in
            outcome?.news = news
            if let window { outcome?.windows.append(window) }
        }
        progress.advance(to: Int(news.seconds), of: Int(plan.seconds))
    }

    private static var machineLoad: Double {
        let text = KernelText.read("/proc/loadavg") ?? ""
        return text.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }
}
