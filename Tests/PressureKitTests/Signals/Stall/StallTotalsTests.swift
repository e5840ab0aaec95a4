import CAllocationCounter
import PressureKit
import Testing

@Suite struct StallTotalsTests {
    private static func parse(_ text: String) -> StallTotals? { StallTotals.parse(Array(text.utf8).span) }

    @Test func bothLinesAreRead() {
        let text = """
            some avg10=26.87 avg60=6.56 avg300=1.44 total=4555863
            full avg10=4.05 avg60=0.86 avg300=0.18 total=575358

            """
        let totals = StallTotals(some: 4_555_863, full: 575_358, someAverage: 2687, fullAverage: 405)
        #expect(Self.parse(text) == totals)
    }

    @Test(arguments: [
        (
            "full avg10=1.00 total=2\nsome avg10=3.00 total=4\n",
            StallTotals(some: 4, full: 2, someAverage: 300, fullAverage: 100)
        ),
        ("some total=9", StallTotals(some: 9, full: nil)),
        ("some avg10=100.00 new=7 total=5\nmost total=1\n", StallTotals(some: 5, full: nil, someAverage: 10_000)),
        ("some avg10=oops total=5", StallTotals(some: 5, full: nil)),
        // Without decimals it ended the process; the fuzzer found it.
        ("some avg10=7 total=5", StallTotals(some: 5, full: nil, someAverage: 700)),
        ("some total=5 avg10=7", StallTotals(some: 5, full: nil, someAverage: 700)),
        ("some avg10=7.1 total=5", StallTotals(some: 5, full: nil, someAverage: 700)),
        ("some total=5\nsome total=6", StallTotals(some: 5, full: nil)),
    ])
    func orderAndExtrasDoNotMatter(text: String, totals: StallTotals) { #expect(Self.parse(text) == totals) }

    @Test(arguments: [
        "", "full total=1\n", "some avg10=1.00\n", "some total=\n", "some total=99999999999999999999\n", "sometotal=1",
    ])
    func withoutATotalThereIsNothing(text: String) { #expect(Self.parse(text) == nil) }

    @Test func itAllocatesNothing() {
        let text = Array("some avg10=0.12 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 total=3\n".utf8)
        _ = StallTotals.parse(text.span)
        let before = pk_thread_allocations()
        for _ in 0..<50 { _ = StallTotals.parse(text.span) }
        #expect(pk_thread_allocations() - before == 0)
    }
}
