#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import Testing

@testable import PressureKit

@Suite struct CodecMemoryTests {
    /// Which of the next chunks are tried, when every tried one has to be stored.
    private static func triesOfNoise(_ memory: inout CodecMemory, chunks: Int) -> [Int] {
        var tries: [Int] = []
        for chunk in 0..<chunks where memory.triesNext() {
            tries.append(chunk)
            memory.note(plainBytes: 1000, storedBytes: 1000, isCompressed: false)
        }
        return tries
    }

    @Test func whatNeverCompressesIsTriedEverMoreSeldom() {
        var memory = CodecMemory()
        let tries = Self.triesOfNoise(&memory, chunks: 6000)
        let gaps = zip(tries, tries.dropFirst()).map { $1 - $0 - 1 }
        #expect(gaps == [0, 0, 0, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024, 1024])
    }

    @Test func aChunkThatCompressesEndsTheSkippingAtOnce() {
        var memory = CodecMemory()
        _ = Self.triesOfNoise(&memory, chunks: 300)
        while !memory.triesNext() {}
        memory.note(plainBytes: 1000, storedBytes: 300, isCompressed: true)
        let tries = Self.triesOfNoise(&memory, chunks: 25)
        #expect(tries == [0, 1, 2, 3, 20], "it has its whole patience again, and the first interval")
    }

    /// Three in a row are a coincidence.
    @Test func mixedBytesAreAlwaysTried() {
        var memory = CodecMemory()
        for chunk in 0..<1000 {
            let isTried = memory.triesNext()
            #expect(isTried)
            memory.note(plainBytes: 1000, storedBytes: 1000, isCompressed: chunk % 4 == 3)
        }
    }

    @Test func theRatioFollowsWhatWasTried() throws {
        var memory = CodecMemory()
        #expect(memory.ratio == nil)
        memory.note(plainBytes: 0, storedBytes: 0, isCompressed: true)
        #expect(memory.ratio == nil)
        memory.note(plainBytes: 1000, storedBytes: 400, isCompressed: true)
        #expect(abs(try #require(memory.ratio) - 0.4) < 0.001)
        for _ in 0..<60 { memory.note(plainBytes: 1000, storedBytes: 200, isCompressed: true) }
        #expect(abs(try #require(memory.ratio) - 0.2) < 0.001)
        memory.note(plainBytes: 1000, storedBytes: 5000, isCompressed: false)
        #expect(try #require(memory.ratio) <= 1)
    }

    @Test(arguments: UInt64(1)...4) func aWordHoldsAllOfIt(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var memory = CodecMemory()
        for _ in 0..<2000 {
            if memory.triesNext() {
                let isCompressed = UInt8.random(in: 0..<8, using: &random) == 0
                memory.note(
                    plainBytes: 1000,
                    storedBytes: isCompressed ? Int.random(in: 0...900, using: &random) : 1000,
                    isCompressed: isCompressed
                )
            }
            #expect(CodecMemory(rawValue: memory.rawValue) == memory)
        }
        #expect(MemoryLayout<CodecMemory>.size == 8)
    }
}

@Suite struct CodecRatesTests {
    /// A chunk of 100,000 bytes on a machine of one's own making.
    private static func cost(
        codec: Double,
        file: Double,
        ratio: Double = 0.5,
        isCompressed: Bool = true
    ) -> ChunkCost {
        let plain = 100_000
        let stored = isCompressed ? Int(Double(plain) * ratio) : plain
        return ChunkCost(
            plainBytes: plain,
            storedBytes: stored,
            codec: isCompressed ? .deflate : .stored,
            isTried: isCompressed,
            encodeTime: .nanoseconds(Int64(isCompressed ? codec * Double(plain) : 0)),
            writeTime: .nanoseconds(Int64(file * Double(stored)))
        )
    }

    /// What `#expect` cannot call itself, since it changes the rates.
    private static func storesFirst(_ rates: inout CodecRates, _ ratio: Double?) -> Bool {
        rates.shouldStoreFirst(ratio: ratio)
    }

    @Test func nothingIsPutOffBeforeBothWereMeasured() {
        var rates = CodecRates()
        #expect(!Self.storesFirst(&rates, nil))
        for _ in 0..<20 { rates.note(Self.cost(codec: 0, file: 0.3, isCompressed: false)) }
        #expect(rates.codecNanoseconds == nil)
        #expect(!Self.storesFirst(&rates, nil))
        rates.note(Self.cost(codec: 13, file: 0.3))
        #expect(Self.storesFirst(&rates, nil))
    }

    /// Codec and file in ns for each byte: deflate and the page cache; deflate and a network disk of 100 MB/s; zstd and
    /// a disk of 1 GB/s; a disk of 20 MB/s; the edge, where storing is exactly twice as fast, and just beyond it.
    @Test(arguments: [
        (13.0, 0.3, 0.5, true), (13, 10, 0.5, false), (2.1, 1, 0.5, true), (13, 50, 0.3, false),
        (3, 2, 0.5, true), (2.97, 2, 0.5, false), (13, 0.3, 1, true), (1.5, 1.5, 0.9, false),
    ])
    func whatIsFasterByTheFactorIsDoneFirst(_ codec: Double, _ file: Double, _ ratio: Double, _ stores: Bool) {
        var rates = CodecRates()
        for _ in 0..<4 { rates.note(Self.cost(codec: codec, file: file, ratio: ratio)) }
        #expect(Self.storesFirst(&rates, ratio) == stores)
    }

    @Test func theFirstMeasurementsCountAlikeAndLaterOnesTakeTheirPlace() throws {
        var rates = CodecRates()
        for codec in [10.0, 20, 30] { rates.note(Self.cost(codec: codec, file: 1)) }
        #expect(abs(try #require(rates.codecNanoseconds) - 20) < 0.5)
        for _ in 0..<500 { rates.note(Self.cost(codec: 5, file: 4)) }
        #expect(abs(try #require(rates.codecNanoseconds) - 5) < 0.01)
        #expect(abs(try #require(rates.fileNanoseconds) - 4) < 0.01)
    }

    /// Each 300th small frame waits for 8 MiB that were written before it. That the others seem to take next to nothing is as
    /// little true as that this one takes 73 ns a byte.
    @Test func theWaitForOthersIsTheirBytesToo() throws {
        var rates = CodecRates()
        for frame in 0..<3000 {
            var cost = Self.cost(codec: 5.5, file: 0.6, ratio: 0.27)
            if frame % 300 == 299 { cost.writeTime = .milliseconds(2) }
            rates.note(cost)
            #expect(try #require(rates.fileNanoseconds) < 1.2)
        }
    }

    @Test func whatSaysNothingIsPassedOver() {
        var rates = CodecRates()
        var short = Self.cost(codec: 10, file: 1)
        short.plainBytes = 4095
        rates.note(short)
        var backwards = Self.cost(codec: 10, file: 1)
        backwards.encodeTime = .zero
        backwards.writeTime = .nanoseconds(-5)
        rates.note(backwards)
        #expect(rates == CodecRates())
    }

    /// A chunk of zeros is written in one short call, and the disk is no slower for it: what comes next is compressed.
    @Test func whatShrinksToNextToNothingSaysNothingAboutTheDisk() {
        var rates = CodecRates()
        rates.note(Self.cost(codec: 10, file: 400, ratio: 0.003))
        #expect(rates.codecNanoseconds == 10)
        #expect(rates.fileNanoseconds == nil)
        rates.note(Self.cost(codec: 0, file: 17.5, isCompressed: false))
        #expect(!Self.storesFirst(&rates, nil))
    }

    /// Between the two factors the last decision stands.
    @Test func theDecisionHasAHysteresis() {
        func rates(codec: Double) -> CodecRates {
            var rates = CodecRates()
            rates.note(Self.cost(codec: codec, file: 1))
            return rates
        }
        // 1.75 × as fast to store.
        var between = rates(codec: 1.25)
        #expect(!Self.storesFirst(&between, 0.5))
        var storing = rates(codec: 4)
        #expect(Self.storesFirst(&storing, 0.5))
        for _ in 0..<200 { storing.note(Self.cost(codec: 1.25, file: 1)) }
        #expect(Self.storesFirst(&storing, 0.5))
        for _ in 0..<200 { storing.note(Self.cost(codec: 0.9, file: 1)) }
        #expect(!Self.storesFirst(&storing, 0.5))
    }

    @Test(arguments: [true, false]) func oneChunkIn64GoesTheOtherWay(stores: Bool) {
        var rates = CodecRates()
        rates.note(Self.cost(codec: 13, file: stores ? 0.3 : 30))
        let others = (1...640).filter { _ in rates.shouldStoreFirst(ratio: nil) != stores }
        #expect(others == (1...10).map { $0 * 64 })
    }

    /// A disk that becomes slow for a while, on a virtual clock: the choice follows within the 4 MiB that are remembered, and
    /// comes back within as many of the few chunks that go the other way.
    @Test func aDiskThatBecomesSlowIsNoticed() {
        var memory = CodecMemory()
        var rates = CodecRates()
        var stored = [0, 0, 0, 0, 0, 0]
        for chunk in 0..<12_000 {
            let file = chunk / 2000 == 1 ? 30 : 0.3
            let choice = CodecChoice.next(&memory, &rates, for: .reclaim)
            if choice.isProvisional { stored[chunk / 2000] += 1 }
            let isCompressed = choice.request != .stored
            CodecChoice.note(Self.cost(codec: 13, file: file, isCompressed: isCompressed), &memory, &rates)
        }
        #expect(stored[0] > 1950)
        #expect(stored[1] < 42 + 2000 / 64)
        #expect(stored[5] > 1950)
    }

    @Test func inCalmTimesWhatCompressesIsCompressedAndTheRestStaysStored() {
        var memory = CodecMemory()
        var rates = CodecRates()
        rates.note(Self.cost(codec: 13, file: 0.3))
        let underPressure = CodecChoice.next(&memory, &rates, for: .reclaim)
        let inBackground = CodecChoice.next(&memory, &rates, for: .background)
        #expect(underPressure == CodecChoice(request: .stored, isProvisional: true))
        #expect(inBackground == CodecChoice(request: .adaptive))
        for _ in 0..<CodecMemory.patience {
            var cost = Self.cost(codec: 0, file: 0.3, isCompressed: false)
            cost.isTried = true
            CodecChoice.note(cost, &memory, &rates)
        }
        let afterwards = CodecChoice.next(&memory, &rates, for: .background)
        #expect(afterwards == CodecChoice(request: .stored))
    }

    /// Chunks that were stored to save time say nothing about whether they would have compressed.
    @Test func whatWasNotTriedIsNotRemembered() {
        var memory = CodecMemory()
        var rates = CodecRates()
        for _ in 0..<100 { CodecChoice.note(Self.cost(codec: 0, file: 1, isCompressed: false), &memory, &rates) }
        #expect(memory == CodecMemory())
        #expect(rates.fileNanoseconds != nil)
    }

    /// A disk that takes 6 ns for a byte: a reclaim that is waited for compresses. Where nobody waits, the processors' time is
    /// what counts.
    @Test func whereNobodyWaitsTheFilesTimeCountsLess() {
        var memory = CodecMemory()
        var rates = CodecRates()
        for _ in 0..<4 {
            rates.note(Self.cost(codec: 6, file: 6))
            rates.note(Self.cost(codec: 0, file: 6, isCompressed: false))
        }
        let choices = [CodecChoice.Purpose.reclaim, .trade, .background].map {
            CodecChoice.next(&memory, &rates, for: $0).request
        }
        #expect(choices == [.adaptive, .stored, .adaptive])
    }

    /// What a copy costs whenever it is read counts as often as it is read.
    @Test(arguments: [(0.0, false), (1, false), (4, true)])
    func whatIsReadManyTimesIsStoredWhereThatIsFasterToRead(_ restores: Double, _ stores: Bool) throws {
        var reads = RestoreRates()
        reads.note(.milliseconds(1), byteCount: 1_000_000, compressed: 0)
        reads.note(.milliseconds(3), byteCount: 1_000_000, compressed: 1_000_000)
        var rates = CodecRates()
        for _ in 0..<4 { rates.note(Self.cost(codec: 6, file: 6)) }
        let outlook = try #require(reads.outlook(restores: restores))
        #expect(rates.shouldStoreFirst(ratio: 0.5, outlook) == stores)
    }

    @Test func bothAreSmallAndTrivial() {
        #expect(MemoryLayout<CodecRates>.size <= 28 && _isPOD(CodecRates.self) && _isPOD(CodecMemory.self))
    }
}
#endif
