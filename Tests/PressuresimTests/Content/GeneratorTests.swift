import Testing

@testable import SampleContent
@testable import pressuresim

@Suite struct SplitMix64Tests {
    /// The first numbers of seed 1234567, as other implementations give them.
    @Test func givesThePublishedNumbers() {
        var random = SplitMix64(seed: 1_234_567)
        #expect(random.next() == 6_457_827_717_110_365_317)
        #expect(random.next() == 3_203_168_211_198_807_973)
        #expect(random.next() == 9_817_491_932_198_370_423)
    }

    @Test func streamsOfOneSeedDiffer() {
        let firsts = (0..<1000).map { stream in
            var random = SplitMix64(seed: 1, stream: UInt64(stream))
            return random.next()
        }
        #expect(Set(firsts).count == 1000)
    }

    @Test func unitNumbersFillTheUnitInterval() {
        var random = SplitMix64(seed: 9)
        let numbers = (0..<10_000).map { _ in random.unit() }
        #expect(numbers.allSatisfy { $0 >= 0 && $0 < 1 })
        // The mean of 10,000 has a standard deviation of 0.0029.
        let mean = numbers.reduce(0, +) / 10_000
        #expect(mean > 0.485 && mean < 0.515)
    }
}

@Suite struct XXHash64Tests {
    /// The vectors of the reference implementation and of python-xxhash's documentation.
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("abc", 0, 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0, 0xFBCE_A83C_8A37_8BF1),
            ("xxhash", 20_141_025, 13_067_679_811_253_438_005),
        ] as [(String, UInt64, UInt64)]
    )
    func givesThePublishedHashes(text: String, seed: UInt64, hash: UInt64) {
        #expect(Array(text.utf8).read { XXHash64.hash($0, seed: seed) } == hash)
    }

    @Test(arguments: [1, 7, 8, 31, 32, 33, 100])
    func everyByteCounts(count: Int) {
        let original = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let hash = original.read { XXHash64.hash($0) }
        for index in original.indices {
            var changed = original
            changed[index] ^= 1
            #expect(changed.read { XXHash64.hash($0) } != hash)
        }
    }
}
