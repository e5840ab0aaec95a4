@testable import PressureKit
@testable import PressureSignals

extension FuzzTarget {
    /// Texts of the kernel's and of systemd's. The first byte says whose; what was read, written as the kernel writes it
    /// and read again, is the same.
    static let kernel = FuzzTarget(name: "kernel") { bytes throws(FuzzFailure) in
        guard let kind = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        switch kind {
        case UInt8(ascii: "i"): try memoryInfo(text)
        case UInt8(ascii: "p"): try stall(text)
        case UInt8(ascii: "e"): try events(text)
        case UInt8(ascii: "l"): try limit(text)
        case UInt8(ascii: "n"): try numbers(text)
        case UInt8(ascii: "c"): try cgroups(text)
        case UInt8(ascii: "s"): try service(text)
        default: break
        }
    }

    private static func memoryInfo(_ text: [UInt8]) throws(FuzzFailure) {
        guard let info = MemoryInfoParser.parse(text.span) else { return }
        let fields: [(String, ByteCount?)] = [
            ("MemTotal", info.total), ("MemFree", info.free), ("MemAvailable", info.available),
            ("Buffers", info.buffers), ("Cached", info.cached), ("Shmem", info.shared),
            ("Active(file)", info.activeFile), ("Inactive(file)", info.inactiveFile),
            ("SReclaimable", info.reclaimableSlab), ("SwapTotal", info.swapTotal), ("SwapFree", info.swapFree),
        ]
        for (name, bytes) in fields {
            guard let bytes else { continue }
            try hold(bytes >= .zero && bytes <= Headroom.largestLimit, "\(name) is \(bytes.bytes) bytes")
        }
        if let headroom = info.headroom {
            try hold(headroom.available >= .zero && headroom.available <= info.total, "headroom \(headroom)")
            try hold(headroom.limit == info.total, "headroom \(headroom)")
        }
        let lines = fields.compactMap { name, bytes in bytes.map { "\(name):    \($0.bytes / 1024) kB\n" } }
        try hold(MemoryInfoParser.parse(Array(lines.joined().utf8).span) == info, "written and read again: \(info)")
    }

    private static func stall(_ text: [UInt8]) throws(FuzzFailure) {
        guard let totals = StallTotals.parse(text.span) else { return }
        try hold(totals.some >= 0 && (totals.full ?? 0) >= 0, "\(totals)")
        try hold(0...10_099 ~= totals.someAverage && 0...10_099 ~= totals.fullAverage, "\(totals)")
        func line(_ name: String, _ total: Int, _ average: Int) -> String {
            let part = average % 100
            return "\(name) avg10=\(average / 100).\(part / 10)\(part % 10) avg60=0.00 avg300=0.00 total=\(total)\n"
        }
        var lines = line("some", totals.some, totals.someAverage)
        if let full = totals.full { lines += line("full", full, totals.fullAverage) }
        try hold(StallTotals.parse(Array(lines.utf8).span) == totals, "written and read again: \(totals)")
    }

    private static func events(_ text: [UInt8]) throws(FuzzFailure) {
        guard let counters = EventCounters.parse(text.span) else { return }
        let numbers = [counters.high, counters.max, counters.oom, counters.oomKill]
        try hold(numbers.allSatisfy { $0 >= 0 }, "\(counters)")
        let lines = "low 0\nhigh \(numbers[0])\nmax \(numbers[1])\noom \(numbers[2])\noom_kill \(numbers[3])\n"
        try hold(EventCounters.parse(Array(lines.utf8).span) == counters, "written and read again: \(counters)")
        try hold(counters.growth(since: counters) == EventCounters(), "it grows by itself: \(counters)")
    }

    private static func limit(_ text: [UInt8]) throws(FuzzFailure) {
        guard let limit = CgroupUsage.limit(text.span) else { return }
        try hold(limit > .zero && limit <= Headroom.largestLimit, "a limit of \(limit.bytes)")
        try hold(CgroupUsage.limit(Array("\(limit.bytes)\n".utf8).span) == limit, "\(limit) read again")
    }

    /// memory.stat, statm, schedstat.
    private static func numbers(_ text: [UInt8]) throws(FuzzFailure) {
        for number in [text.span.number(keyed: "inactive_file"), text.span.number(keyed: "total_inactive_file")] {
            try hold(number.map { $0 >= 0 } ?? true, "\(number ?? 0)")
        }
        if let pages = ProcessFootprint.residentPages(text.span) {
            let (_, isTooMuch) = pages.multipliedReportingOverflow(by: 1 << 16)
            try hold(pages >= 0 && !isTooMuch, "\(pages) pages")
        }
        if let times = BusyProbe.times(text.span) { try hold(times.ran >= 0 && times.waited >= 0, "\(times)") }
    }
}
