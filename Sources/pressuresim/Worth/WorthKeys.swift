import SampleContent

/// Which value is read next: some much more often than others, and the popular ones anywhere among the keys.
struct WorthKeys: Sendable {
    let count: Int
    private let ranks: ZipfDistribution
    /// Neighbouring ranks are this far from each other, round the end. No table: it would be charged to the limit.
    private let stride: Int

    /// - Parameters:
    ///   - count: how many keys there are; at least 1.
    ///   - alpha: the exponent.
    init(count: Int, alpha: Double) {
        self.count = count
        ranks = ZipfDistribution(count: count, alpha: alpha)
        // Near the golden section, so that a few neighbours are far apart as well as two are.
        var stride = max(Int(Double(count) * 0.618), 1)
        while Self.commonDivisor(stride, count) != 1 { stride += 1 }
        self.stride = stride
    }

    /// The key of a rank: 1 is the most popular, `count` the least.
    func key(ofRank rank: Int) -> Int { rank % count * stride % count }

    /// Draws one key, 0 ..< count.
    func next(_ random: inout SplitMix64) -> Int { key(ofRank: ranks.sample(&random)) }

    private static func commonDivisor(_ one: Int, _ other: Int) -> Int {
        var (one, other) = (one, other)
        while other != 0 { (one, other) = (other, one % other) }
        return one
    }
}
