import PressureKitTestSupport
import Testing

@testable import PressureSignals
@testable import PressureSystem

@Suite struct WatermarksTests {
    @Test(arguments: [64, 96, 128, 512, 4096])
    func aLimitIsUsedButForAFewPerCent(mebibytes: Int) {
        let limit = ByteCount.mebibytes(mebibytes)
        let marks = Watermarks(limit: limit)
        #expect(0 < marks.min && marks.min < marks.low && marks.low < marks.high)
        #expect(Double(marks.high) <= 0.08 * Double(limit.bytes))
    }

    @Test func ofAHugeLimitAGibibyteIsLeftAtMost() {
        #expect(Watermarks(limit: .gibibytes(512)).high == 1 << 30)
    }

    /// On a host that nobody limits a cache stops before anybody is warned.
    @Test func onAHostTheCacheEndsWhereWarningBegins() {
        let bands = PressureThresholds().bytes(of: .gibibytes(8))
        let marks = Watermarks(host: bands)
        #expect(marks.low > bands.warningEnter.bytes && marks.high < bands.warningLeave.bytes)
        #expect(marks.min < bands.warningEnter.bytes && marks.min > bands.criticalEnter.bytes)
    }

    @Test func whatOthersTakeFastIsKeptFreeBeside() {
        let limit = ByteCount.mebibytes(256)
        let (quiet, swift) = (Watermarks(limit: limit), Watermarks(limit: limit, surge: 1e9))
        #expect(swift.high - quiet.high == 20_000_000)
        #expect(Watermarks(limit: limit, surge: 1e12).high <= quiet.high + limit.bytes / 6)
    }

    @Test func theHighestRateFadesByHalfInHalfAMinute() {
        var rate = FillRate()
        func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
        rate.note(.gibibytes(8), at: at(0))
        rate.note(.gibibytes(4), at: at(2))
        let peak = rate.peak
        #expect(peak > 1e9)
        rate.note(.gibibytes(4), at: at(32))
        #expect(abs(rate.peak / peak - 0.5) < 0.01)
    }
}

@Suite struct AdmissionRoomTests {
    private var room: AdmissionRoom {
        AdmissionRoom(
            available: 40 << 20,
            limit: .mebibytes(1000),
            marks: Watermarks(min: 30 << 20, low: 60 << 20, high: 80 << 20),
            takenAt: MonotonicInstant(nanoseconds: 0)
        )
    }

    @Test func itIsCountedFromTheLeastMark() {
        #expect(room.bytes == 10 << 20)
        #expect((room.low, room.high) == (30 << 20, 50 << 20))
    }

    /// The next values fit into it; but only so much of it is of use.
    @Test func theFreePartOfTheHeapIsRoom() {
        var room = room
        room.count(heap: 20 << 20)
        #expect(room.bytes == 30 << 20)
        #expect(!room.wantsHeapBack, "without it there is room too")
        room = self.room
        room.count(heap: 500 << 20)
        #expect(room.bytes == 60 << 20)
    }

    @Test func itIsWantedBackWhereReadersWouldWaitWithoutIt() {
        var room = room
        room.bytes = -5 << 20
        room.count(heap: 20 << 20)
        #expect(room.bytes == 15 << 20)
        #expect(room.wantsHeapBack)
        room.bytes = -5 << 20
        room.count(heap: 1 << 20)
        #expect(!room.wantsHeapBack, "too little to be worth it")
    }
}
