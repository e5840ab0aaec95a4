import ReportPages

/// The bench's record as tables.
struct BenchText {
    var record: BenchRecord
    var style: Style

    var text: String {
        let tables = record.scale.isEmpty ? metrics : metrics + [""] + scale
        return ([machine, corpus] + warnings + [""] + tables + interruption).joined(separator: "\n")
    }

    private var corpus: String { "Bytes of \(record.machine.corpus)." }

    private var machine: String {
        let machine = record.machine
        let memory = Quantities.bytes(Double(machine.memoryBytes))
        return "\(machine.processor), \(Quantities.count(machine.cores, "core")), \(memory), zlib \(machine.zlib)"
    }

    /// What makes the figures worth less than they look.
    private var warnings: [String] {
        let machine = record.machine
        var lines: [String] = []
        if machine.loadBefore >= 0.5 {
            let load = Quantities.fixed(machine.loadBefore, 1)
            lines.append("The load average was \(load) before the start: others had a part of the machine.")
        }
        if !machine.optimized {
            lines.append("This is a debug build: its figures mean nothing. Use swift build -c release.")
        }
        return lines.map(style.bad)
    }

    private var interruption: [String] {
        guard !record.isComplete else { return [] }
        let measured = record.results.count { $0.value != nil }
        return ["", "Interrupted: \(measured) of \(Quantities.count(record.results.count, "metric")) measured."]
    }

    private var metrics: [String] {
        var table = TextTable([.left, .right, .right, .right, .left, .left, .left])
        table.add(["metric", "value", "limit", "ratio", "goal", "verdict", "the limit is"])
        for result in record.results {
            let unit = result.metric.unit
            table.add([
                result.metric.rawValue,
                result.value.map(unit.text) ?? "-",
                result.limit.map(unit.text) ?? "-",
                result.ratio.map(Quantities.digits) ?? "-",
                result.metric.goal.text,
                result.verdict,
                result.metric.limit,
            ])
        }
        let lines = table.lines(fitting: style.columns, hasHeader: true)
        return [style.bold(lines[0])]
            + zip(lines.dropFirst(), record.results).map { line, result in
                result.holds == false ? style.bad(line) : line
            }
    }

    private var scale: [String] {
        var table = TextTable([.right, .right, .right, .right, .right, .right])
        table.add(["entries", "register", "hit", "plan", "evict", "restore"])
        for row in record.scale {
            let costs = [row.register, row.hit, row.plan, row.evict, row.restore]
            table.add([Quantities.count(row.entries)] + costs.map(Quantities.duration))
        }
        let lines = table.lines(fitting: style.columns, hasHeader: true)
        return [style.bold("Cost of an entry of 8 bytes, by how many there are")] + lines
    }
}
