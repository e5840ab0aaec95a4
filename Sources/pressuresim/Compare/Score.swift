import PressureKit
import ReportPages

/// What one contender's run came to.
struct Score: Sendable {
    /// What is compared, in the order of the table's columns.
    enum Column: String, CaseIterable, Sendable {
        /// Seconds that readers waited for what had left memory: restores and reloads.
        case waited = "waited_seconds"
        /// Seconds that readers waited for restores.
        case restoreStall = "restore_stall_seconds"
        /// Seconds that readers waited for loaders to make values again; the first time is everybody's cost.
        case reloadCost = "reload_cost_seconds"
        /// Reads that found their value in memory, of all but the first of each value.
        case hitRate = "hit_rate"
        /// The median of the same reads.
        case p50 = "access_p50_seconds"
        case p99 = "access_p99_seconds"
        case max = "access_max_seconds"
        /// Plain bytes that were compressed or written, whoever asked for it.
        case written = "written_bytes"
        /// Values that left memory, whoever asked for it.
        case evicted = "evicted"
        /// Their bytes.
        case freed = "freed_bytes"
        /// The fall of the process's resident memory; measured in real time only.
        case returned = "returned_bytes"
        case reclaims = "reclaims"
    }

    var contender: Contender
    /// What was measured.
    var values: [Column: Double] = [:]
    /// The bytes freed over the bytes asked for, in the reclaims that the timeline asked a number of; `nil` if none was.
    var freedOfAsked: Double?
    /// Values that no competitor could have got back: see ``Entrant/onlyCopies``.
    var onlyCopies = 0
    /// Values that were lost here. Anything but 0 is a fault of the library.
    var lost = 0
    /// Reads that threw what nobody asked for.
    var failures = 0

    subscript(column: Column) -> Double? { values[column] }

    init(_ contender: Contender, values: [Column: Double]) {
        self.contender = contender
        self.values = values
    }

    /// Of all processes that played: who takes memory from another one makes that one wait.
    ///
    /// - Parameter isReal: whether the process's memory and the clock were real.
    init(_ entrant: Entrant, _ record: RunRecord, isReal: Bool) {
        let records = [record] + record.others
        contender = entrant.contender
        onlyCopies = entrant.onlyCopies
        lost = Set(record.tally.losses.map(\.path)).count
        failures = record.tally.failures
        var tally = record.tally
        for other in record.others { tally.add(other.tally) }
        // The first reading of a value is everybody's: it says nothing about who evicts what.
        var all = tally.reloads
        for outcome in [AccessOutcome.hit, .restore] {
            if let latencies = tally.latencies[outcome] { all.add(latencies) }
        }
        let restores = Double(tally.latencies[.restore]?.total ?? 0) / 1e9
        let reloads = Double(tally.reloads.total) / 1e9
        values[.restoreStall] = restores
        values[.reloadCost] = reloads
        values[.waited] = restores + reloads
        if all.count > 0 { values[.hitRate] = Double(tally.latencies[.hit]?.count ?? 0) / Double(all.count) }
        values[.p50] = all.percentile(50)
        values[.p99] = all.percentile(99)
        values[.max] = all.percentile(100)
        let reclaims = records.flatMap(\.reclaims)
        func sum(_ key: KeyPath<ReclaimRecord, Int>) -> Double {
            reclaims.reduce(0) { $0 + Double($1[keyPath: key]) }
        }
        let asked = reclaims.filter {
            $0.origin == PressureCause.Origin.simulated.rawValue && ($0.goalBytes ?? 0) > 0
        }
        if !asked.isEmpty {
            let goal = asked.reduce(0.0) { $0 + Double($1.goalBytes ?? 0) }
            freedOfAsked = asked.reduce(0.0) { $0 + Double($1.claimedBytes) } / goal
        }
        values[.written] = Double(records.reduce(0) { $0 + $1.outflow.copiedBytes })
        values[.evicted] = Double(records.reduce(0) { $0 + $1.outflow.values })
        values[.freed] = Double(records.reduce(0) { $0 + $1.outflow.bytes })
        if isReal { values[.returned] = sum(\.returnedBytes) }
        values[.reclaims] = Double(reclaims.count)
    }

    /// How far the runs of one contender are apart in ``Column/waited``, over their median: the most of all contenders.
    static func spread(_ scores: [Score]) -> Double? {
        Contender.allCases.compactMap { contender -> Double? in
            let times = scores.filter { $0.contender == contender }.compactMap { $0[.waited] }.sorted()
            guard times.count > 1, let least = times.first, let most = times.last else { return nil }
            let median = times[(times.count - 1) / 2]
            return median > 0 ? (most - least) / median : nil
        }.max()
    }

    /// The median of each column over several runs of one contender.
    init?(medianOf scores: [Score]) {
        guard var median = scores.first else { return nil }
        for column in Column.allCases {
            let sorted = scores.compactMap { $0[column] }.sorted()
            median.values[column] = sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
        }
        median.onlyCopies = scores.map(\.onlyCopies).max() ?? 0
        median.lost = scores.map(\.lost).max() ?? 0
        median.failures = scores.map(\.failures).max() ?? 0
        self = median
    }
}

extension Score.Column {
    /// The head of the table's column.
    var title: String {
        switch self {
        case .waited: "waited"
        case .restoreStall: "restores"
        case .reloadCost: "reloads"
        case .hitRate: "hits"
        case .p50: "p50"
        case .p99: "p99"
        case .max: "max"
        case .written: "written"
        case .evicted: "evicted"
        case .freed: "freed"
        case .returned: "returned"
        case .reclaims: "reclaims"
        }
    }

    /// What it is, in a sentence.
    var meaning: String {
        switch self {
        case .waited: "time that readers waited for what had left memory: restores and reloads"
        case .restoreStall: "time that readers waited until a value was read back from its copy"
        case .reloadCost: "time that readers waited for loaders to make a value again"
        case .hitRate: "reads that found their value in memory, of all but the first of each value that a loader makes"
        case .p50: "the median of the same reads"
        case .p99: "what 99 of 100 of them did not exceed"
        case .max: "the longest of them"
        case .written: "bytes of values that were compressed or written, before compression"
        case .evicted: "how often a value left memory: in reclaims, for a cache's own limit, for room"
        case .freed: "the bytes of those values"
        case .returned: "fall of the process's resident memory in the reclaims"
        case .reclaims: "how often memory was reclaimed"
        }
    }

    /// Which end of the column is the better one. `nil` where a difference is no merit: bytes to free are given.
    var better: Better? {
        switch self {
        case .waited, .restoreStall, .reloadCost, .p50, .p99, .max, .written: .less
        case .hitRate: .more
        case .evicted, .freed, .returned, .reclaims: nil
        }
    }

    enum Better: String, Sendable { case less, more }

    /// As the table shows it.
    func text(_ value: Double) -> String {
        switch self {
        case .waited, .restoreStall, .reloadCost, .p50, .p99, .max:
            value == 0 ? "0" : Quantities.duration(value)
        case .hitRate: "\(Quantities.fixed(value * 100, 1)) %"
        // Three digits, so that columns stay narrow.
        case .written, .freed, .returned: Quantities.bytes(value, Quantities.digits)
        case .evicted, .reclaims: Quantities.count(Int(value))
        }
    }

    /// For programs.
    var unit: String {
        switch self {
        case .waited, .restoreStall, .reloadCost, .p50, .p99, .max: "seconds"
        case .hitRate: "ratio"
        case .written, .freed, .returned: "bytes"
        case .evicted, .reclaims: "count"
        }
    }
}
