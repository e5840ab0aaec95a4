import Foundation
import Testing

@testable import SampleContent
@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct ZipfTests {
    @Test(arguments: [0.5, 0.99, 1, 1.5, 3], [1, 2, 10, 1000])
    func ranksComeAsOftenAsZipfsLawSays(alpha: Double, count: Int) {
        let zipf = ZipfDistribution(count: count, alpha: alpha)
        var random = SplitMix64(seed: 11)
        let samples = 50_000
        var counts = [Int](repeating: 0, count: count)
        for _ in 0..<samples { counts[zipf.sample(&random) - 1] += 1 }
        for rank in 1...min(count, 10) {
            let p = zipf.probability(of: rank)
            // Five standard deviations of a binomial: one false alarm in a million, and the seed is fixed.
            let tolerance = 5 * (Double(samples) * p * (1 - p)).squareRoot() + 1
            let expected = Double(samples) * p
            #expect(abs(Double(counts[rank - 1]) - expected) <= tolerance, "rank \(rank), alpha \(alpha)")
        }
        // The tail as a whole is right too.
        let tail = counts.dropFirst(10).reduce(0, +)
        let head = (1...min(count, 10)).reduce(0) { $0 + zipf.probability(of: $1) }
        #expect(abs(Double(tail) / Double(samples) - (1 - head)) < 0.012)
    }

    @Test func hugeCountsCostNoTable() {
        let zipf = ZipfDistribution(count: 1_000_000_000, alpha: 0.9)
        var random = SplitMix64(seed: 1)
        let samples = (0..<1000).map { _ in zipf.sample(&random) }
        #expect(samples.allSatisfy { (1...1_000_000_000).contains($0) })
        #expect(samples.contains { $0 > 1_000_000 })
    }
}

@Suite struct AccessSequenceTests {
    private func take(_ count: Int, _ pattern: PatternSpec, of population: Int, seed: UInt64 = 1, stream: UInt64 = 0)
        -> [Int]
    {
        var sequence = AccessSequence(pattern, population: population, seed: seed, stream: stream)
        return (0..<count).map { _ in sequence.next() }
    }

    @Test func sequentialGoesRound() { #expect(take(7, .sequential, of: 3) == [0, 1, 2, 0, 1, 2, 0]) }

    @Test(arguments: [
        PatternSpec.uniform, .zipf(alpha: 1), .scan(length: 3), .hotSet(.init(size: 0.5, share: 0.9, shiftEvery: 7)),
    ])
    func theSeedDecides(pattern: PatternSpec) {
        let first = take(100, pattern, of: 50)
        #expect(take(100, pattern, of: 50) == first)
        #expect(take(100, pattern, of: 50, seed: 2) != first)
        #expect(take(100, pattern, of: 50, stream: 1) != first)
        #expect(first.allSatisfy { (0..<50).contains($0) })
    }

    @Test func aLoopGoesRoundItsPart() {
        #expect(take(7, .loop(over: 3), of: 10) == [0, 1, 2, 0, 1, 2, 0])
        #expect(take(5, .loop(over: 100), of: 2) == [0, 1, 0, 1, 0])
    }

    @Test func scansAreRunsOfNeighboursFromPlacesTakenAtRandom() {
        let indices = take(1000, .scan(length: 10), of: 500)
        let runs = stride(from: 0, to: 1000, by: 10).map { Array(indices[$0..<($0 + 10)]) }
        for run in runs {
            #expect(run == (0..<10).map { (run[0] + $0) % 500 })
        }
        #expect(Set(runs.map { $0[0] }).count > 50)
        // Longer than there are things: once round, and on from elsewhere.
        #expect(take(6, .scan(length: 9), of: 3).allSatisfy { (0..<3).contains($0) })
    }

    @Test func aHotSetGetsItsShareAndMovesOn() {
        let set = PatternSpec.HotSet(size: 0.1, share: 0.9, shiftEvery: 10_000)
        let indices = take(30_000, .hotSet(set), of: 100)
        for part in 0..<3 {
            let hot = indices[(part * 10_000)..<((part + 1) * 10_000)].count { ($0 / 10) % 10 == part }
            // Five standard deviations of 10,000 trials at 0.9 are 150.
            #expect(abs(hot - 9000) < 150, "part \(part)")
        }
    }

    @Test(arguments: [
        PatternSpec.HotSet(size: 0, share: 1), .init(size: 1, share: 0.5), .init(size: 0.5, share: 0, shiftEvery: 1),
    ])
    func aHotSetOfAnySizeStaysWithinWhatThereIs(set: PatternSpec.HotSet) {
        for population in [1, 2, 7] {
            #expect(take(200, .hotSet(set), of: population).allSatisfy { (0..<population).contains($0) })
        }
    }

    @Test func uniformReachesAllAlike() {
        let counts = Dictionary(take(50_000, .uniform, of: 10).map { ($0, 1) }, uniquingKeysWith: +)
        // Five standard deviations around 5,000 are 335.
        #expect((0..<10).allSatisfy { abs((counts[$0] ?? 0) - 5000) < 335 })
    }

    /// What is popular in one step is popular in the next: only the order of accesses differs.
    @Test func zipfHasTheSameFavouriteInEveryStep() {
        func favourite(_ stream: UInt64) -> Int? {
            let taken = take(2000, .zipf(alpha: 1.2), of: 100, stream: stream)
            return Dictionary(taken.map { ($0, 1) }, uniquingKeysWith: +).max { $0.value < $1.value }?.key
        }
        #expect(Set([favourite(1), favourite(2), favourite(3)]).count == 1)
    }

    @Test func aTraceIsPlayedByTheOrderOfFirstAppearanceAndGoesRound() {
        let keys = TraceKeys(keys: ["x", "y", "x", "z"].map { $0[...] })
        #expect(keys.numbers == [0, 1, 0, 2])
        #expect(keys.distinct == 3)
        var sequence = AccessSequence(.trace(file: "t"), population: 2, seed: 1, stream: 0, trace: keys)
        #expect((0..<6).map { _ in sequence.next() } == [0, 1, 0, 0, 0, 1])
        #expect(sequence.pass == 4)
        #expect(sequence.remark == "3 keys of the trace share 2")
        let roomy = AccessSequence(.trace(file: "t"), population: 3, seed: 1, stream: 0, trace: keys)
        #expect(roomy.remark == nil)
        #expect(AccessSequence(.uniform, population: 3, seed: 1, stream: 0).pass == 3)
    }

    @Test func aTraceThatIsNoTextSaysWhatToDo() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("keys.gz")
            try Data([0x1F, 0x8B, 0xFF]).write(to: file)
            do {
                _ = try TraceKeys(path: file.path)
                Issue.record("read what is no trace")
            } catch {
                #expect("\(error)".contains("compressed by gzip, and damaged"))
            }
            try Data("only one\n".utf8).write(to: file)
            #expect(throws: Never.self) { try TraceKeys(path: file.path) }
            try Data("\n# nothing\n".utf8).write(to: file)
            #expect(throws: ContentError.self) { try TraceKeys(path: file.path) }
        }
    }
}
