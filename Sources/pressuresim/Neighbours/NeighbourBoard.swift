import Foundation
import PressureKit

/// What is written to `--json`.
struct NeighbourFacts: Encodable {
    var boards: [NeighbourBoard]
}

/// A limit and who is below it.
struct NeighbourBoard: Encodable {
    struct Process: Encodable {
        var process: Int
        var command: String?
        var heldBytes: Int
        var freeBytes: Int
        var dirtyBytes: Int
        /// Free in its heap.
        var heapBytes: Int
        var residentBytes: Int
        var floorBytes: Int
        var weight: Double
        /// Its part of the room, 0 … 1, as far as it can use it.
        var share: Double
        var budgetBytes: Int
        /// Seconds that its readers have waited for what had been evicted, ever.
        var waitedSeconds: Double
        /// How long after a shortage was seen it has looked; of the newest that it did not see itself.
        var answerMilliseconds: Double?
    }

    struct Shortage: Encodable {
        var number: Int
        var needBytes: Int
        var secondsAgo: Double
    }

    var file: String
    /// Its directory; `nil` where that cannot be found from here.
    var cgroup: String?
    var shortage: Shortage?
    var processes: [Process]

    /// All of the calling user's that somebody is on.
    static func all() -> [NeighbourBoard] {
        let now = SystemClock().now()
        return BoardSurvey.all().filter { !$0.processes.isEmpty }.map { survey in
            NeighbourBoard(
                file: survey.path,
                cgroup: survey.processes.lazy.compactMap { directory(of: $0.slot.process, survey) }.first,
                shortage: survey.shortage.number == 0
                    ? nil
                    : Shortage(
                        number: survey.shortage.number,
                        needBytes: survey.shortage.need,
                        secondsAgo: Double((now - survey.shortage.at).nanoseconds) / 1e9
                    ),
                processes: survey.processes.map(Process.init).sorted { $0.process < $1.process }
            )
        }
    }

    /// Which of a process's cgroups the board is of.
    private static func directory(of process: Int32, _ survey: BoardSurvey) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/cgroup", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"] {
                var path = fields[2] == "/" ? "" : String(fields[2])
                while true {
                    let attributes = try? FileManager.default.attributesOfItem(atPath: mount + path)
                    if attributes?[.systemFileNumber] as? UInt64 == survey.cgroup.inode { return mount + path }
                    guard let slash = path.lastIndex(of: "/") else { break }
                    path = String(path[..<slash])
                }
            }
        }
        return nil
    }
}

extension NeighbourBoard.Process {
    init(_ process: BoardSurvey.Process) {
        let slot = process.slot
        self.process = Int(slot.process)
        command = (try? String(contentsOfFile: "/proc/\(slot.process)/comm", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        heldBytes = slot.held
        freeBytes = slot.free
        dirtyBytes = slot.dirty
        heapBytes = slot.heap
        residentBytes = slot.resident
        floorBytes = slot.floor
        weight = slot.weight
        share = process.part
        budgetBytes = process.budget
        waitedSeconds = Double(slot.awaited) / 1e9
        answerMilliseconds = slot.answered == 0 ? nil : Double(slot.answerTime.nanoseconds) / 1e6
    }
}
