/// Which of the values a plan looks at: all, or one part in so many, another one each time, and what is new. Pure.
///
/// Keys fall into shards by their hashes, so that a few shards are a random sample of a cache. A small batch chosen from a
/// quarter of the values is as good as from all, if what has come since the last one is among them, for a quarter of the
/// time: in simulated streams readers waited up to 5 % longer for it, and up to 20 % with an eighth and without the new.
/// (Redis does with five keys for each one that it evicts: its documentation of `maxmemory-samples`.)
struct PlanSample: Hashable, Sendable {
    private let index: Int
    /// In how many parts; a power of two.
    let parts: Int
    /// What has come since this reading of the ``UseClock`` is looked at in any case; `nil` where all is.
    let newest: UInt32?
    private var singles = 0

    /// Everything.
    static let all = PlanSample(turn: 0, parts: 1)
    /// The most parts there are.
    static let mostParts = 4
    /// Fewer values than this are no sample.
    private static let leastValues = 512

    /// The `turn`th part of so many.
    init(turn: Int, parts: Int, since stamp: UInt32 = 0) {
        self.parts = parts
        index = turn & (parts - 1)
        newest = parts > 1 ? stamp : nil
    }

    /// A part of `count` values that is large enough to choose from.
    init(turn: Int, of count: Int, since stamp: UInt32 = 0) {
        var parts = 1
        while parts < Self.mostParts, count / (2 * parts) >= Self.leastValues { parts *= 2 }
        self.init(turn: turn, parts: parts, since: stamp)
    }

    /// Whether a shard with a number is in it.
    func takes(_ number: Int) -> Bool { number & (parts - 1) == index }

    /// Whether the next cache that has one value only is in it.
    mutating func takesNext() -> Bool {
        singles &+= 1
        return takes(singles)
    }
}
