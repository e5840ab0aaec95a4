import PressureSystem

/// What a trace says of its keys beside their order: `key`, a tab, `size`, a tab, `cost`. The first line of a key counts.
struct TraceColumns: Sendable {
    /// One for each key, in the order of their first appearance; `nil` where the line ends before.
    private(set) var sizes: [ByteCount?] = []
    private(set) var costs: [Duration?] = []

    /// - Throws: why a column is none.
    init(lines: [TraceFile.Line]) throws(TraceFile.Refusal) {
        var known: Set<Substring> = []
        for line in lines where known.insert(line.key).inserted {
            sizes.append(try line.column(0, Self.size, "size", such: "4096 or 4KiB"))
            costs.append(try line.column(1, Self.cost, "cost", such: "2ms"))
        }
    }

    private static func size(_ text: String) -> ByteCount? {
        let bytes = Int(text).map(Double.init) ?? UnitFamily.bytes.value(text)
        guard let bytes, 1.0...68_719_476_736 ~= bytes else { return nil }
        return .bytes(Int(bytes.rounded()))
    }

    private static func cost(_ text: String) -> Duration? {
        guard let seconds = UnitFamily.time.value(text), 0.0...3600 ~= seconds else { return nil }
        return Duration(roundedSeconds: seconds)
    }
}

extension TraceFile.Line {
    fileprivate func column<Value>(
        _ index: Int,
        _ parse: (String) -> Value?,
        _ noun: String,
        such example: String
    ) throws(TraceFile.Refusal) -> Value? {
        guard index < columns.count else { return nil }
        if let value = parse(String(columns[index])) { return value }
        throw TraceFile.Refusal(reason: "has no \(noun) such as \(example) after the tab, in line \(number)")
    }
}

/// Gives the values of caches the sizes and costs that traces have for them.
struct TraceColumnsReader {
    let file: String
    let diagnostics: Diagnostics
    private var known: [String: TraceColumns] = [:]

    init(file: String, _ diagnostics: Diagnostics) { (self.file, self.diagnostics) = (file, diagnostics) }

    /// Reads what these controllers' caches name; `times`: how often there is each of the controllers.
    mutating func resolve(_ specs: inout [ControllerSpec], times: Int = 1) {
        for index in specs.indices {
            let (count, overflows) = times.multipliedReportingOverflow(by: specs[index].count)
            // What is too much is told by somebody else.
            guard !overflows else { return }
            for cache in specs[index].caches.indices { resolve(&specs[index].caches[cache], times: count) }
            resolve(&specs[index].children, times: count)
            resolve(&specs[index].presents, times: count)
        }
    }

    private mutating func resolve(_ cache: inout CacheSpec, times: Int) {
        let perController = cache.count.multipliedReportingOverflow(by: cache.keyed?.keys ?? 1)
        let (count, overflows) = times.multipliedReportingOverflow(by: perController.partialValue)
        guard !overflows, !perController.overflow else { return }
        if let trace = cache.sizeTrace, let sizes = column(\.sizes, trace, "size", count, for: cache) {
            cache.sizes = sizes
            cache.size = (sizes.min() ?? cache.size.lowerBound)...(sizes.max() ?? cache.size.upperBound)
            if let limit = cache.keyed?.limit, limit < cache.size.upperBound {
                let found = limit.tooSmall(for: cache.size)
                diagnostics.report(at: cache.name.position, found: found, allowed: CacheSpec.roomForOne)
            }
        }
        if let trace = cache.loader?.costTrace, let costs = column(\.costs, trace, "cost", count, for: cache) {
            cache.loader?.costs = costs
        }
    }

    /// The first `count` of a column.
    private mutating func column<Value>(
        _ column: KeyPath<TraceColumns, [Value?]>,
        _ trace: String,
        _ noun: String,
        _ count: Int,
        for cache: CacheSpec
    ) -> [Value]? {
        do throws(TraceFile.Refusal) {
            let path = ScenarioPaths.resolve(trace, from: file)
            if known[path] == nil { known[path] = try TraceColumns(lines: try TraceFile.lines(path)) }
            let all = known[path]?[keyPath: column] ?? []
            guard all.count >= count else {
                throw TraceFile.Refusal(reason: "has \(all.count) keys for \(count) values")
            }
            let values = all.prefix(count).compactMap(\.self)
            guard values.count == count else {
                throw TraceFile.Refusal(reason: "has a key without a \(noun) (key, tab, size, tab, cost)")
            }
            return values
        } catch {
            diagnostics.report(
                at: cache.name.position,
                found: "a trace \"\(trace)\" that \(error.reason)",
                allowed: "a trace with a \(noun) for each value (relative to the scenario's file)"
            )
            return nil
        }
    }
}

extension ControllerSpec {
    /// The traces that its values, and those below it, have sizes and costs from.
    package var columnTraces: [String] {
        caches.flatMap { [$0.sizeTrace, $0.loader?.costTrace].compactMap(\.self) }
            + (children + presents).flatMap(\.columnTraces)
    }
}
