import Foundation
import PressureKit
import ReportPages

/// Measures PressureKit against the best LRU, cell by cell.
struct Worth: Sendable {
    var plan: WorthPlan
    var progress: Progress = .quiet
    /// The tool itself.
    var tool = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    /// What is known so far, for whoever interrupts.
    let board = WorthBoard()

    /// Blocks until all is measured.
    ///
    /// - Throws: ``EnvironmentRefusal`` where no cgroup can be made, or no file for the values.
    func run() throws -> [WorthResult] {
        // Before a file of values is made, which takes long.
        _ = try LimitedGroup(limit: plan.cells.map(\.limit).min() ?? .mebibytes(64))
        let files = try WorthFiles(in: plan.directory)
        board.entrust(files)
        defer { files.remove() }
        let hogs = try WorthHogs(count: plan.busy)
        defer { hogs.end() }
        for kind in plan.kinds {
            for cell in plan.cells(of: kind) {
                progress.begin("writing \(Quantities.count(cell.values, "value")) of \(cell.valueSize)")
                let content = try files.content(of: cell, progress)
                try measure(kind, cell, content)
            }
        }
        return board.results
    }

    private func measure(_ kind: WorthKind, _ cell: WorthCell, _ content: WorthContent) throws {
        let swing = plan.swing(kind, cell)
        let run = WorthRun(kind: kind, cell: cell, content: content, swing: swing, source: plan.source, tool: tool)
        let title = "\(kind.rawValue), \(cell.title)"
        var search = BoundSearch(tolerance: plan.tolerance)
        var result = WorthResult(kind: kind, cell: cell)
        func lru(_ bound: Int, _ times: WorthPlan.Times) throws -> WorthOutcome {
            result.bound = bound
            return try run.play(.lru, bounds: result.bounds ?? [], plan.times(times, with: swing))
        }
        var kits: [WorthOutcome] = []
        func kit() throws -> WorthOutcome {
            try run.play(.kit, bounds: [], plan.times(plan.times, with: swing))
        }
        guard !plan.isAlone else {
            for round in 0..<plan.rounds {
                progress.begin("\(title): round \(round + 1) of \(plan.rounds)")
                result.outcomes.append(try kit())
                board.note(result)
            }
            return
        }
        func settle() -> Bool {
            result.probes = search.probes
            result.bound = search.best
            return result.bound != nil
        }
        /// Whom an equal part does not suit best gets a better one, as somebody would find who divides by hand.
        func divide(_ bound: Int) throws {
            var fastest = 0.0
            var best: Int?
            for part in kind.firstParts {
                progress.begin("\(title): LRUs, \(part) % for the first")
                result.firstPart = part
                let outcome = try lru(bound, plan.probe)
                guard outcome.isAlive, outcome.figures.readsPerSecond > fastest else { continue }
                (fastest, best) = (outcome.figures.readsPerSecond, part)
            }
            result.firstPart = best
        }
        repeat {
            result.firstPart = nil
            while let bound = search.next {
                progress.begin("\(title): LRU of \(bound) %")
                let outcome = try lru(bound, plan.probe)
                search.note(bound, speed: outcome.isAlive ? outcome.figures.readsPerSecond : nil)
            }
            guard settle(), let bound = result.bound else { break }
            try divide(bound)
            result.outcomes = []
            for round in 0..<plan.rounds {
                progress.begin("\(title): round \(round + 1) of \(plan.rounds)")
                let theirs = try lru(bound, plan.times)
                guard theirs.isAlive else {
                    // What a short look did not show: a smaller one is to be found, and compared.
                    search.note(bound, speed: nil)
                    result.outcomes = []
                    break
                }
                result.outcomes.append(theirs)
                if kits.count <= round {
                    kits.append(try kit())
                }
                result.outcomes.append(kits[round])
                board.note(result)
            }
        } while result.outcomes.isEmpty
        if result.bound == nil {
            progress.begin("\(title): PressureKit")
            result.outcomes = [try kit()]
        }
        board.note(result)
    }
}

extension WorthCell {
    /// Such as `256 MiB, 14,745 × 32 KiB, zipf 0.9, 1 reader`.
    var title: String {
        """
        \(Numeral.bytes(Double(limit.bytes))), \(Quantities.count(values)) × \
        \(Numeral.bytes(Double(valueSize.bytes))), zipf \(PlainNumber.text(zipf)), \
        \(Quantities.count(readers, "reader"))
        """
    }
}

/// Numbers of the command line, as they are written there.
private enum PlainNumber {
    /// `0.9`, `1`, `1.05`.
    static func text(_ value: Double) -> String {
        let text = Quantities.fixed(value, 2)
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
    }
}

/// What a measurement under way has found.
final class WorthBoard: Sendable {
    private let known = Lock<[WorthResult]>([])
    private let files = Lock<WorthFiles?>(nil)

    var results: [WorthResult] { known.withLock { $0 } }

    /// Takes the place of what was known of the same cell.
    func note(_ result: WorthResult) {
        known.withLock { known in
            if let index = known.firstIndex(where: { $0.kind == result.kind && $0.cell == result.cell }) {
                known[index] = result
            } else {
                known.append(result)
            }
        }
    }

    func entrust(_ files: WorthFiles) { self.files.withLock { $0 = files } }

    /// Removes the files, for a tool that is about to end.
    func clear() { files.withLock { $0 }?.remove() }
}

/// The files of values, made when they are needed first, in a directory of their own.
final class WorthFiles: Sendable {
    private let directory: TemporaryDirectory
    private let made = Lock<[Int: WorthContent]>([:])

    /// - Throws: ``EnvironmentRefusal`` when the directory cannot be made.
    init(in parent: String) throws(EnvironmentRefusal) {
        directory = try TemporaryDirectory(in: parent, option: "--directory")
    }

    deinit { remove() }

    /// The values of a cell. Those of one size are in one file, as many as were asked for at once so far.
    ///
    /// - Throws: ``EnvironmentRefusal`` when there is no room for them.
    func content(of cell: WorthCell, _ progress: Progress) throws -> WorthContent {
        let size = cell.valueSize.bytes
        if let content = made.withLock({ $0[size] }) {
            if content.count >= cell.values { return content }
            try? FileManager.default.removeItem(atPath: content.path)
        }
        let path = "\(directory.path)/\(cell.values)-of-\(size)"
        let content = try WorthContent(path: path, valueSize: cell.valueSize, count: cell.values, progress: progress)
        made.withLock { $0[size] = content }
        return content
    }

    /// Removes them all.
    func remove() { directory.remove() }
}
