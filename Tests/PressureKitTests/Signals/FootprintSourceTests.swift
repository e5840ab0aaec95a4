import PressureKit
import Testing

@Suite struct FootprintSourceTests {
    private let now = MonotonicInstant(nanoseconds: 0)

    @Test func whatTheLibraryHoldsElsewhereCountsAsWell() throws {
        let root = try FakeRoot(["/proc/self/statm": "5000 1000 10 1 0 1 0\n"])
        var context = root.context
        context.heldOutside = { .kibibytes(64) }
        let page = 4096
        let limit = ByteCount.bytes(2000 * page)
        let reading = try #require(try FootprintSource(limit: limit, context: context).sample(at: now))
        #expect(reading.origin == .footprint)
        #expect(reading.headroom == Headroom(available: .bytes(1000 * page - (64 << 10)), limit: limit))
    }

    @Test func aProcessAboveItsLimitHasNothingLeft() throws {
        let source = try FootprintSource(limit: .kibibytes(1))
        #expect(source.sample(at: now)?.headroom?.available == .zero)
    }

    @Test(arguments: [ByteCount.zero, .bytes(-1), .bytes(.max)])
    func aLimitThatIsNoneIsRefused(limit: ByteCount) throws {
        let error = try #require(throws: PressureError.self) { try FootprintSource(limit: limit) }
        #expect(error.code == .invalidConfiguration)
    }

    /// The app's own limit says nothing about the system: what others wait for is not judged by it.
    @Test func itIsNotTheSystemsHeadroom() {
        var classifier = PressureClassifier(thresholds: PressureThresholds(), sources: 1)
        let headroom = Headroom(available: .mebibytes(1), limit: .mebibytes(100))!
        _ = classifier.step(
            [SignalReading(origin: .footprint, source: "x", measure: .headroom(headroom), takenAt: now)],
            at: now
        )
        #expect(classifier.headroomShare == nil)
        #expect(classifier.headroom == headroom)
    }
}
