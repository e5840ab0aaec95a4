/// Which of the values a plan looks at: all, or one part in so many, another one each time. Pure.
///
/// Keys fall into shards by their hashes, so that a few shards are a random sample of a cache. A small batch chosen from an
/// eighth of the values is nearly as good as from all, for an eighth of the time: Redis does with five keys for each one
/// that it evicts (its documentation of `maxmemory-samples`).
struct PlanSample: Hashable, Sendable {
    private let index: Int
    /// In how many parts; a power of two.
    let parts: Int
    private var singles = 0

    /// Everything.
    static let all = PlanSample(turn: 0, parts: 1)
    /// The most parts there are: as many as a shard of each cache is one.
    static let mostParts = 8
    /// Fewer values than this are no sample.
    private static let leastValues = 512

    /// The `turn`th part of so many.
    init(turn: Int, parts: Int) {
        self.parts = parts
        index = turn & (parts - 1)
    }

    /// A part of `count` values that is large enough to choose from.
    init(turn: Int, of count: Int) {
        var parts = 1
        while parts < Self.mostParts, count / (2 * parts) >= Self.leastValues { parts *= 2 }
        self.init(turn: turn, parts: parts)
    }

    /// Whether a shard with a number is in it.
    func takes(_ number: Int) -> Bool { number & (parts - 1) == index }

    /// Whether the next cache that has one value only is in it.
    mutating func takesNext() -> Bool {
        singles &+= 1
        return takes(singles)
    }
}
