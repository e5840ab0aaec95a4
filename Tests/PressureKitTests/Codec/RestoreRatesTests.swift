import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct RestoreRatesTests {
    /// Notes values of 1 MB, of which so much is compressed; 1 ns to read a byte as it is, 3 ns to decompress one.
    private static func note(_ compressed: Int, _ rates: inout RestoreRates, whole: Double = 1) {
        let time = Double(1_000_000 - compressed) * whole + Double(compressed) * 3
        rates.note(.nanoseconds(Int64(time)), byteCount: 1_000_000, compressed: compressed)
    }

    @Test func nothingIsExpectedBeforeBothWereMeasured() {
        var rates = RestoreRates()
        #expect(rates.outlook(restores: 3) == nil)
        Self.note(0, &rates)
        #expect(rates.outlook(restores: 3) == nil)
        Self.note(1_000_000, &rates)
        #expect(rates.outlook(restores: 3) == RestoreOutlook(whole: 3, packed: 9))
    }

    /// Large values are seldom all of one kind: the few chunks that go the other way are what the rest does not explain.
    @Test(arguments: [true, false]) func aFewChunksOfAValueTellOfTheirKind(isPacked: Bool) throws {
        var rates = RestoreRates()
        // Before its own kind is known it says nothing.
        Self.note(isPacked ? 750_000 : 250_000, &rates)
        #expect(rates == RestoreRates())
        for _ in 0..<4 { Self.note(isPacked ? 1_000_000 : 0, &rates) }
        for _ in 0..<4 { Self.note(isPacked ? 750_000 : 250_000, &rates) }
        let outlook = try #require(rates.outlook(restores: 1))
        #expect(abs(outlook.whole - 1) < 0.01 && abs(outlook.packed - 3) < 0.01)
    }

    @Test func whatTookLessThanTheRestExplainsIsNotNegative() throws {
        var rates = RestoreRates()
        Self.note(1_000_000, &rates)
        rates.note(.nanoseconds(1000), byteCount: 1_000_000, compressed: 750_000)
        #expect(try #require(rates.outlook(restores: 1)).whole >= 0)
    }

    @Test func aDiskThatBecomesSlowIsNoticed() throws {
        var rates = RestoreRates()
        for _ in 0..<10 {
            Self.note(0, &rates)
            Self.note(1_000_000, &rates)
        }
        for _ in 0..<40 { Self.note(0, &rates, whole: 20) }
        let outlook = try #require(rates.outlook(restores: 1))
        #expect(outlook.whole > 19 && outlook.packed == 3)
    }

    /// A cache whose copies are read often says so, as often as a copy is read; one that has written none, nothing.
    @Test func aCacheKnowsHowOftenItsCopiesAreRead() {
        let statistics = CacheStatistics()
        statistics.noteRestore(.nanoseconds(1_000_000), byteCount: 1_000_000, compressed: 0)
        statistics.noteRestore(.nanoseconds(3_000_000), byteCount: 1_000_000, compressed: 1_000_000)
        #expect(statistics.restoreOutlook == .none)
        statistics.noteWrite(.milliseconds(1), byteCount: 1_000_000)
        #expect(statistics.restoreOutlook == RestoreOutlook(whole: 2, packed: 6))
        for _ in 0..<100 { statistics.noteRestore(.nanoseconds(1_000_000), byteCount: 1_000_000) }
        #expect(statistics.restoreOutlook == RestoreOutlook(whole: 16, packed: 48))
    }

    @Test func theyAreSmallAndTrivial() { #expect(MemoryLayout<RestoreRates>.size == 16 && _isPOD(RestoreRates.self)) }
}
