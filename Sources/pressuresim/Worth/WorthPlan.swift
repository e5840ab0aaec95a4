import PressureKit

/// What happens around a cache while it is measured.
enum WorthKind: String, CaseIterable, Hashable, Sendable, Codable {
    /// One process, whose other memory stays as it is.
    case still = "static"
    /// One process, whose other memory grows to a part of the limit and falls again, over and over.
    case swing
    /// So many processes below one limit, each with a part of the values.
    case shared2, shared4
    /// Four, of which one reads all the time and the others a little; four, in one of which a load takes ten times as long.
    case busy4, dear4

    var processes: Int {
        switch self {
        case .still, .swing: 1
        case .shared2: 2
        case .shared4, .busy4, .dear4: 4
        }
    }

    /// In a heading.
    var title: String {
        switch self {
        case .still: "Nothing else changes"
        case .swing: "Other memory of the process swings between 0 and 60 % of the limit"
        case .shared2: "Two processes below one limit, each with a part of the values"
        case .shared4: "Four processes below one limit, each with a part of the values"
        case .busy4: "Four processes below one limit, three of which read 50 times a second"
        case .dear4: "Four processes below one limit, in one of which a load takes ten times as long"
        }
    }

    /// How long each reader of a process rests after a read.
    func pause(_ index: Int) -> Duration? { self == .busy4 && index > 0 ? .milliseconds(20) : nil }

    /// The parts of the bound to try for the first process's LRU, in hundredths, where the processes are not alike: an equal part
    /// first. The others share the rest equally.
    var firstParts: [Int] {
        switch self {
        case .still, .swing, .shared2, .shared4: []
        case .busy4, .dear4: [25, 40, 55, 70, 85]
        }
    }

    /// How often a value is loaded for one load.
    func repeats(_ index: Int) -> Int { self == .dear4 && index == 0 ? 10 : 1 }

    /// The kinds that a word on the command line names; `nil` if it names none.
    static func named(_ word: String) -> [WorthKind]? {
        word == "all" ? allCases : WorthKind(rawValue: word).map { [$0] }
    }
}

/// A limit, the values that are read below it, and how.
struct WorthCell: Hashable, Sendable, Codable {
    /// Of the cgroup.
    var limit: ByteCount
    var valueSize: ByteCount
    /// The exponent of the reads' distribution.
    var zipf: Double
    /// Threads that read, in each process.
    var readers: Int
    /// Of all processes together.
    var values: Int

    /// - Parameter values: as many as take 1.8 times the limit, if nothing else is said.
    init(limit: ByteCount, valueSize: ByteCount, zipf: Double, readers: Int, values: Int? = nil) {
        self.limit = limit
        self.valueSize = valueSize
        self.zipf = zipf
        self.readers = readers
        self.values = values ?? max(limit.bytes / 5 * 9 / valueSize.bytes, 1)
    }

    /// Every combination.
    static func grid(
        limits: [ByteCount],
        valueSizes: [ByteCount],
        zipfs: [Double],
        readers: [Int],
        values: Int? = nil
    ) -> [WorthCell] {
        limits.flatMap { limit in
            valueSizes.flatMap { size in
                zipfs.flatMap { zipf in
                    readers.map { WorthCell(limit: limit, valueSize: size, zipf: zipf, readers: $0, values: values) }
                }
            }
        }
    }

    /// All that a claim about small and large caches has to hold in.
    static let grid = grid(
        limits: [.mebibytes(128), .mebibytes(256), .mebibytes(512)],
        valueSizes: [.kibibytes(4), .kibibytes(32), .mebibytes(1)],
        zipfs: [0.7, 0.9, 1.1],
        readers: [1, 2, 8]
    )

    /// A few that are far from each other. The first is the one that other kinds than `static` take.
    static let few = [
        WorthCell(limit: .mebibytes(256), valueSize: .kibibytes(32), zipf: 0.9, readers: 1),
        WorthCell(limit: .mebibytes(128), valueSize: .kibibytes(4), zipf: 0.9, readers: 2),
        WorthCell(limit: .mebibytes(128), valueSize: .kibibytes(32), zipf: 1.1, readers: 8),
        WorthCell(limit: .mebibytes(256), valueSize: .mebibytes(1), zipf: 0.9, readers: 2),
        WorthCell(limit: .mebibytes(512), valueSize: .mebibytes(1), zipf: 0.7, readers: 1),
    ]

    /// Two that are done in less than a minute.
    static let quick = [
        WorthCell(limit: .mebibytes(128), valueSize: .kibibytes(32), zipf: 0.9, readers: 1),
        WorthCell(limit: .mebibytes(128), valueSize: .mebibytes(1), zipf: 0.9, readers: 2),
    ]
}

/// What is measured, how often and for how long.
struct WorthPlan: Hashable, Sendable {
    /// The times of one measurement, in seconds.
    struct Times: Hashable, Sendable {
        /// Whether what a long-running process sees is measured: every value is read once first, and then they are read as in the
        /// time that counts for twice as long as that took. By then no read is the first of its value, and what has left memory
        /// often has its copy. Otherwise as many values are read first as the limit holds, which for an LRU is the same.
        var isSteady = true
        /// Reads that are not counted, after that, at least.
        var warm: Double
        /// And at most.
        var mostWarm = 30.0
        /// Reads that are.
        var measured: Double

        /// How long reads are not counted, after a cache that took so long to be filled.
        func warm(afterFilling seconds: Double) -> Double {
            isSteady ? min(max(warm, 2 * seconds), mostWarm) : warm
        }
    }

    var kinds: [WorthKind] = [.still]
    var cells = WorthCell.few
    /// Whether the cells were asked for: then every kind is measured in all of them.
    var hasChosenCells = false
    /// How often each contender is measured; medians are told.
    var rounds = 3
    var times = Times(warm: 1.5, measured: 5)
    /// Of the short measurements that look for the LRU's bound.
    var probe = Times(isSteady: false, warm: 0.6, measured: 1.2)
    /// How close to the best bound is close enough, in hundredths of the limit.
    var tolerance = 3
    /// How long swinging memory stays up, and down.
    var rest = 1.5
    /// Whether PressureKit is measured alone: whether it lives and how it fares, compared with nobody.
    var isAlone = false
    /// Threads that do nothing but take processor time meanwhile.
    var busy = 0
    /// Where the values are that are loaded.
    var directory = "/var/tmp"
    var source = WorthSource()

    /// Under a minute.
    static let quick = WorthPlan(
        cells: WorthCell.quick,
        rounds: 1,
        times: Times(warm: 0.6, mostWarm: 2, measured: 2),
        probe: Times(isSteady: false, warm: 0.3, measured: 0.6),
        tolerance: 6,
        rest: 0.6
    )

    /// Who is measured.
    var contenders: [WorthContender] { isAlone ? [.kit] : WorthContender.allCases }

    /// The cells of a kind.
    func cells(of kind: WorthKind) -> [WorthCell] {
        kind == .still || hasChosenCells ? cells : Array(cells.prefix(1))
    }

    /// How the other memory of a process goes up and down; `nil` where it does not.
    func swing(_ kind: WorthKind, _ cell: WorthCell) -> WorthSwing? {
        guard kind == .swing else { return nil }
        return WorthSwing(peak: .bytes(cell.limit.bytes / 5 * 3), rest: rest)
    }

    /// The times in a cell: of memory that swings, whole periods are measured.
    func times(_ times: Times, with swing: WorthSwing?) -> Times {
        guard let swing else { return times }
        let periods = (times.measured / swing.period - 1e-9).rounded(.up)
        var times = times
        times.measured = max(periods, 1) * swing.period
        return times
    }
}
