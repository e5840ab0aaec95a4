#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import PressureKit
import PressureKitTestSupport
import Testing

/// The streams that orders of eviction are known to differ on.
enum ContestStream: String, CaseIterable {
    case zipf07, zipf09, zipf11, loop, twoLoops, scansThroughHotSet, onceOnly, shifting, shiftingFast, recent

    /// `count` keys of about `population`.
    func keys(_ count: Int, of population: Int, seed: UInt64) -> [Int] {
        var random = SeededGenerator(seed: seed)
        func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }
        switch self {
        case .zipf07: return AccessStream.zipf(0.7, count, of: population, seed: seed)
        case .zipf09: return AccessStream.zipf(0.9, count, of: population, seed: seed)
        case .zipf11: return AccessStream.zipf(1.1, count, of: population, seed: seed)
        case .recent: return AccessStream.recent.keys(count, of: population, seed: seed)
        case .loop: return (0..<count).map { $0 % population }
        case .twoLoops:
            var places = [0, 0]
            let lengths = [population / 4, population - population / 4]
            return (0..<count).map { _ in
                let loop = below(2)
                places[loop] = (places[loop] + 1) % lengths[loop]
                return loop * lengths[0] + places[loop]
            }
        case .scansThroughHotSet: return AccessStream.zipfWithScans.keys(count, of: population, seed: seed)
        case .onceOnly:
            var next = population / 4
            return (0..<count).map { position in
                guard position % (population / 4) < population / 12 else { return below(population / 8) }
                next += 1
                return next
            }
        case .shifting, .shiftingFast:
            let period = self == .shifting ? 2 * population : population / 2
            return (0..<count).map { position in
                let start = position / period * (population / 10)
                return (start + below(below(10) < 9 ? population / 10 : population)) % population
            }
        }
    }
}

/// Costs and sizes of what is read.
enum ContestMix: String, CaseIterable {
    case equal, costs, sizes, both

    func contest(_ stream: ContestStream, part: Double) -> Contest {
        let population = 1000
        let keys = stream.keys(16_000, of: population, seed: 42)
        let count = (keys.max() ?? 0) + 1
        var random = SeededGenerator(seed: 7)
        let bytes = (0..<count).map { _ in
            // From 1 KiB to 4 MiB.
            let size = Int(1024 * pow(2, Double.random(in: 0..<12, using: &random)))
            return self == .sizes || self == .both ? size : 65_536
        }
        let costs = (0..<count).map { _ in
            // From one to a hundred.
            let cost = pow(100, Double.random(in: 0..<1, using: &random))
            return self == .costs || self == .both ? 1e6 * cost : 1e6
        }
        let all = bytes.prefix(population).reduce(0, +)
        let limit = max(Int(Double(all) * part), 8 << 20)
        return Contest(name: "\(stream)/\(self)/\(part)", keys: keys, bytes: bytes, costs: costs, limit: limit)
    }
}

/// Ours against each of six others where each of them is good: in the time that readers wait, in memory that is always
/// full. The others keep to the byte and look at every value; ours takes a hundredth at a time, of a sample.
@Suite(.timeLimit(.minutes(15))) struct OrderContestTests {
    private func wait(_ contest: Contest, _ read: (Int) -> Bool) -> Double {
        var wait = 0.0
        for (number, key) in contest.keys.enumerated() {
            // What is read first fills the memory.
            if !read(key), number >= contest.keys.count / 5 { wait += contest.costs[key] }
        }
        return wait
    }

    private func best(_ contest: Contest) -> (name: String, wait: Double) {
        var (lru, sieve, s3) = (LRUCache(contest), SieveCache(contest), S3FIFOCache(contest))
        var (tiny, size) = (TinyLFUCache(contest), RankedCache(contest))
        var largest = RankedCache(contest, isLargestFirst: true)
        let waits = [
            ("LRU", wait(contest) { lru.read($0) }), ("SIEVE", wait(contest) { sieve.read($0) }),
            ("S3-FIFO", wait(contest) { s3.read($0) }), ("W-TinyLFU", wait(contest) { tiny.read($0) }),
            ("GDSF", wait(contest) { size.read($0) }), ("largest first", wait(contest) { largest.read($0) }),
        ]
        return waits.min { $0.1 < $1.1 } ?? ("", 0)
    }

    /// What is reached: 3 %, but where a few values of four megabytes lie in memory until a plan comes, and where of a
    /// hundred values the newest are needed first, of which a hundredth at a time leaves one too many.
    private static func most(_ stream: ContestStream, _ mix: ContestMix) -> Double {
        switch (stream, mix) {
        case (.loop, .sizes), (.twoLoops, .sizes): 1.08
        case (.recent, .equal), (.shiftingFast, .equal): 1.06
        default: 1.03
        }
    }

    @Test(arguments: ContestStream.allCases, ContestMix.allCases)
    func theDefaultOrderLosesToNobody(_ stream: ContestStream, _ mix: ContestMix) {
        for part in [0.1, 0.3] {
            let contest = mix.contest(stream, part: part)
            let best = best(contest)
            var ours = SteadyCache(contest, policy: CostAware())
            let ratio = wait(contest) { ours.read($0) } / best.wait
            #expect(ratio <= Self.most(stream, mix), "\(contest.name): \(ratio) of the wait with \(best.name)")
        }
    }
}
#endif
