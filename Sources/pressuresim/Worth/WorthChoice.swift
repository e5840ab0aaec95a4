import PressureKit

/// What the command line asks for, and the plan that is made of it.
struct WorthChoice: Hashable, Sendable {
    var isQuick = false
    var isGrid = false
    var kinds: [WorthKind] = []
    /// Every combination of these is measured; the defaults of those that are empty are used.
    var limits: [ByteCount] = []
    var valueSizes: [ByteCount] = []
    var zipfs: [Double] = []
    var readers: [Int] = []
    var values: Int?
    /// How long each contender is measured.
    var seconds: Double?
    var rounds: Int?
    var isAlone = false
    var busy = 0
    var directory = WorthPlan().directory
    var source = WorthSource()

    private var hasCells: Bool {
        !limits.isEmpty || !valueSizes.isEmpty || !zipfs.isEmpty || !readers.isEmpty || values != nil
    }

    /// The plan.
    var plan: WorthPlan {
        var plan = isQuick ? WorthPlan.quick : WorthPlan()
        if !kinds.isEmpty { plan.kinds = kinds }
        plan.directory = directory
        plan.source = source
        if let seconds { plan.times.measured = seconds }
        if let rounds { plan.rounds = rounds }
        (plan.isAlone, plan.busy) = (isAlone, busy)
        if isGrid { plan.cells = WorthCell.grid }
        plan.hasChosenCells = isGrid || hasCells
        guard hasCells else { return plan }
        plan.cells = WorthCell.grid(
            limits: limits.isEmpty ? [.mebibytes(256)] : limits,
            valueSizes: valueSizes.isEmpty ? [.kibibytes(32)] : valueSizes,
            zipfs: zipfs.isEmpty ? [0.9] : zipfs,
            readers: readers.isEmpty ? [1] : readers,
            values: values
        )
        return plan
    }

    /// What is wrong with it; `nil` if it can be measured.
    var objection: String? {
        if isQuick, isGrid { return "Only one of --quick and --grid can be given." }
        if isGrid, hasCells { return "--grid says what is measured: leave out what says it too." }
        if let seconds, !(0.1...3600).contains(seconds) { return "--seconds must be between 0.1 and 3600." }
        if let rounds, !(1...1000).contains(rounds) { return "--rounds must be between 1 and 1000." }
        if !(0...1024).contains(busy) { return "--busy must be between 0 and 1024." }
        if !(0...1_000_000_000).contains(source.loadNanoseconds) { return "--load-time must be between 0 and 1s." }
        return plan.cells.lazy.compactMap(objection).first
    }

    private func objection(_ cell: WorthCell) -> String? {
        if cell.limit < .mebibytes(16) { return "--limit must be at least 16MiB." }
        if cell.valueSize.bytes < 1024 || cell.valueSize.bytes > cell.limit.bytes / 16 {
            return "--value-size must be at least 1KiB and at most a sixteenth of the limit."
        }
        if !(0.01...4).contains(cell.zipf) { return "--zipf must be between 0.01 and 4." }
        if !(1...256).contains(cell.readers) { return "--readers must be between 1 and 256." }
        return (4...100_000_000).contains(cell.values) ? nil : "--values must be between 4 and 100000000."
    }
}
