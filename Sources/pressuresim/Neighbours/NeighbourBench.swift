import Foundation
import Glibc
import PressureKit
import SampleContent

/// What processes below one limit free of one shortage together, and how they fare while others come, go and are killed: real
/// processes in a real cgroup.
struct NeighbourBench: Sendable {
    /// How many processes share a shortage, one after the other.
    var counts = [1, 2, 4, 8]
    var rounds = 3
    /// How often processes are let come, go and be killed.
    var runs = 50
    var limit = ByteCount.mebibytes(256)
    var seed: UInt64 = 1
    var progress: Progress = .quiet
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// What was found.
    struct Findings: Hashable, Sendable, Codable {
        /// One shortage.
        struct Shortage: Hashable, Sendable, Codable {
            var processes: Int
            /// What was free before, in bytes.
            var left: Int
            /// What all freed.
            var freed: Int
            /// How long after the shortage was seen the last of the others had looked, in milliseconds.
            var answered: Double?
            var kills: Int
        }

        var shortages: [Shortage] = []
        var runs = 0
        var kills = 0
        var lost = 0
        /// Boards or slots that were left when all had ended.
        var left = 0

        /// What is freed for a shortage by one process alone is what is needed for it.
        func needed(_ shortage: Shortage) -> Int? {
            let alone = shortages.filter { $0.processes == 1 }.sorted { $0.freed + $0.left < $1.freed + $1.left }
            guard !alone.isEmpty else { return nil }
            let median = alone[alone.count / 2]
            return max(1, median.freed + median.left - shortage.left)
        }

        /// 1 where what is needed is freed once.
        func ratio(_ shortage: Shortage) -> Double? { needed(shortage).map { Double(shortage.freed) / Double($0) } }
    }

    /// Blocks until all is measured.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made.
    func run() throws -> Findings {
        var findings = Findings()
        for count in counts {
            for round in 0..<rounds {
                progress.begin("a shortage of \(count) processes, \(round + 1) of \(rounds)")
                findings.shortages.append(try shortage(count))
            }
        }
        var random = SplitMix64(seed: seed)
        for run in 0..<runs {
            progress.begin("processes come and go, \(run + 1) of \(runs)")
            try churn(&findings, &random)
        }
        return findings
    }

    private func start(_ limited: LimitedGroup, values: Int, seed: UInt64, rate: Int) throws -> NeighbourProcess {
        try NeighbourProcess(
            [tool.path, "neighbours", "--child", "--values", "\(values)", "--seed", "\(seed)", "--rate", "\(rate)"],
            in: limited
        )
    }

    // MARK: A shortage

    /// Processes fill the limit and rest; then another program takes a quarter of it.
    private func shortage(_ count: Int) throws -> Findings.Shortage {
        let limited = try LimitedGroup(limit: limit)
        return try limited.removedAfter {
            let values = limit.bytes / count / NeighbourChild.valueSize * 3 / 2
            let processes = try (0..<count).map { try start(limited, values: values, seed: UInt64($0), rate: 0) }
            defer { for process in processes { process.end() } }
            for process in processes { process.waitUntilReady() }
            // Copies are written and the expected surge fades: what is freed then is freed for what is taken.
            Pause.sleep(.seconds(3))
            let before = survey(limited)
            let left = limited.group.available?.bytes ?? 0
            let need = limit.bytes / 4
            let taken = try take(need, in: limited)
            Pause.sleep(.seconds(1))
            let after = survey(limited)
            taken.end()
            return Findings.Shortage(
                processes: count,
                left: left,
                freed: (after?.returned ?? 0) - (before?.returned ?? 0),
                answered: after?.answered,
                kills: limited.group.kills ?? 0
            )
        }
    }

    /// Another program in the cgroup that takes so much at 200 MB/s and keeps it.
    private func take(_ bytes: Int, in limited: LimitedGroup) throws -> NeighbourProcess {
        let hog = try NeighbourProcess([tool.path, "neighbours", "--child", "--taking", "\(bytes)"], in: limited)
        hog.waitUntilReady()
        return hog
    }

    private func survey(_ limited: LimitedGroup) -> (returned: Int, answered: Double?)? {
        var status = stat()
        // The string outlives the call.
        guard unsafe stat(limited.group.directory, &status) == 0,
            let board = BoardSurvey.all().first(where: { $0.cgroup.inode == UInt64(status.st_ino) })
        else { return nil }
        let returned = board.processes.reduce(0) { $0 + $1.slot.books.returned }
        let answers = board.processes.map(\.slot).filter { $0.answered == board.shortage.number }
        return (returned, answers.map { Double($0.answerTime.nanoseconds) / 1e6 }.max())
    }

    // MARK: Coming and going

    /// Three to six processes that read all the time; now and then one comes, ends or is killed.
    private func churn(_ findings: inout Findings, _ random: inout SplitMix64) throws {
        findings.runs += 1
        let limited = try LimitedGroup(limit: limit)
        try limited.removedAfter {
            let values = limit.bytes / 4 / NeighbourChild.valueSize * 3 / 2
            var number: UInt64 = 0
            func begin() throws -> NeighbourProcess {
                number += 1
                return try start(limited, values: values, seed: seed &+ number, rate: 400)
            }
            var processes = try (0..<3).map { _ in try begin() }
            for process in processes { process.waitUntilReady() }
            for _ in 0..<6 {
                Pause.sleep(.milliseconds(Int64(random.next() % 150)))
                switch random.next() % 3 {
                case 0 where processes.count < 6: processes.append(try begin())
                case 1 where processes.count > 1:
                    let process = processes.remove(at: Int(random.next() % UInt64(processes.count)))
                    process.end()
                    findings.lost += process.lost
                default:
                    guard processes.count > 1 else { continue }
                    processes.remove(at: Int(random.next() % UInt64(processes.count))).kill()
                }
            }
            for process in processes {
                process.end()
                findings.lost += process.lost
            }
            findings.kills += limited.group.kills ?? 0
            // One who was killed last leaves the file to the next; nobody may be on it.
            if survey(limited) != nil { findings.left += 1 }
        }
    }
}

/// A process of that, and what was heard of it.
final class NeighbourProcess: Sendable {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private let found = Lock(0)

    init(_ arguments: [String], in limited: LimitedGroup) throws {
        process = try limited.start(arguments, output: output, input: input)
    }

    /// Values that it had lost when it ended.
    var lost: Int { found.withLock { $0 } }

    func waitUntilReady() { _ = output.fileHandleForReading.availableData }

    /// Has it look at its values and end; waits for that.
    func end() {
        try? input.fileHandleForWriting.close()
        let data = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).split(separator: "\n").last
        // One that the kernel has killed has lost nothing of its own doing, and is counted otherwise.
        let lost = process.terminationReason == .exit ? text.flatMap { Int($0) } ?? 1 : 0
        found.withLock { $0 = lost }
    }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
