import PressureKit
import ReportPages

/// What a process has answered, for people.
struct ControlText {
    let reply: ControlReply
    let style: Style
    /// Whether every value has a line of its own, or the many of a cache have one.
    var showsAll = false

    var text: String {
        if let status = reply.status { return lines(status).joined(separator: "\n") }
        guard let report = reply.report else { return "done" }
        return line(report)
    }

    private func size(_ bytes: Int?) -> String { bytes.map { "\(ByteCount.bytes($0))" } ?? "unknown" }

    /// `freed 12.0 MiB (returned 11.8 MiB) of 3 values in 4.2 ms, 1 skipped`
    private func line(_ report: ControlReply.Report) -> String {
        var line: String
        if let restored = report.restored {
            line = "restored \(size(report.restoredBytes)) of \(Quantities.count(restored, "cache"))"
        } else {
            line = "freed \(size(report.claimedBytes)) (returned \(size(report.returnedBytes)))"
            line += " of \(Quantities.count(report.evicted ?? 0, "value"))"
        }
        line += " in \((report.milliseconds * 10).rounded() / 10) ms"
        if let skipped = report.skipped, skipped > 0 { line += ", \(skipped) skipped" }
        if let left = report.left, left > 0 { line += ", \(left) left for later" }
        if report.failures > 0 { line += ", " + style.bad(Quantities.count(report.failures, "failure")) }
        return line
    }

    private func lines(_ status: ControlReply.Status) -> [String] {
        let level = status.level == "normal" ? style.good(status.level) : style.bad(status.level)
        let place = status.background ? ", in the background" : ""
        var facts = TextTable([.left, .left])
        facts.add(["process", "\(status.process)\(place)"])
        facts.add(["level", "\(level), score \((status.score * 100).rounded() / 100)"])
        facts.add(["cause", status.cause ?? "none yet"])
        if let available = status.headroom.availableBytes {
            let reclaimable = status.headroom.reclaimableBytes.map { ", and \(size($0)) reclaimable" } ?? ""
            facts.add(["headroom", "\(size(available)) of \(size(status.headroom.limitBytes))\(reclaimable)"])
        }
        if let use = status.use {
            facts.add([
                "limit is",
                "\(size(use.values)) values, \(size(use.copies)) copies, \(size(use.heap ?? 0)) free in the heap, "
                    + "\(size(use.process)) else in the process, \(size(use.others)) others, \(size(use.pageCache)) page cache, \(size(use.free)) free",
            ])
        }
        if let neighbours = status.neighbours {
            let count = neighbours.count == 1 ? "1 other process" : "\(neighbours.count) other processes"
            facts.add([
                "shared by",
                "\(count) with \(size(neighbours.held)) of values; this one may hold \(size(neighbours.budget))",
            ])
        }
        let bytes = status.bytes
        facts.add(["in memory", "\(size(bytes.resident)), of which \(size(bytes.clean)) can go at once"])
        facts.add(["compressed", "\(size(bytes.compressed)), in \(size(bytes.compressedInMemory)) of memory"])
        let demoted = bytes.demoted.flatMap { $0 > 0 ? ", a server behind it \(size($0))" : nil } ?? ""
        facts.add(["spilled", "\(size(bytes.spilled)); the file has \(size(bytes.spillFile))\(demoted)"])
        facts.add(["process has", size(bytes.processResident)])
        let counts = status.counts
        facts.add([
            "so far",
            "\(counts.loads) loads, \(counts.evictions) evictions, \(counts.restores) restores, "
                + "\(counts.refaults) refaults, \(counts.failures) failures",
        ])
        for signal in status.signals { facts.add(["signal", "\(signal.state): \(signal.origin) (\(signal.source))"]) }
        return facts.lines + [""] + tree(status)
    }

    private func tree(_ status: ControlReply.Status) -> [String] {
        var table = TextTable([.left, .left, .right, .right, .right, .right, .right])
        table.add(["cache", "is", "in memory", "spilled", "evicted", "restored", "in use"].map(style.bold))
        for controller in status.controllers {
            let name = controller.path.isEmpty ? "(root)" : controller.path
            if !controller.path.isEmpty || !controller.caches.isEmpty {
                table.add([name, style.dim(controller.visible ? "visible" : "hidden")])
            }
            let groups = showsAll ? controller.caches.map { ControlGroup([$0]) } : ControlGroup.all(controller.caches)
            for group in groups {
                table.add([
                    "  \(group.path)", group.residency, size(group.sum(\.resident) + group.sum(\.compressed)),
                    size(group.sum(\.spilled)), "\(group.sum(\.evictions))", "\(group.sum(\.restores))",
                    "\(group.sum(\.pins))",
                ])
            }
        }
        var lines = table.lines
        let left = status.leftOut
        if left.controllers + left.caches > 0 {
            lines.append(
                "and \(Quantities.count(left.controllers, "controller")) and \(Quantities.count(left.caches, "cache")) more"
            )
        }
        return lines
    }
}
