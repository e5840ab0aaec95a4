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
        #expect(Double(marks.high - 2_000_000) <= 0.07 * Double(limit.bytes), "and what others take in a moment")
    }

    @Test func ofAHugeLimitAGibibyteIsLeftAtMost() {
        #expect(Watermarks(limit: .gibibytes(512)).high == 1 << 30 + 2_000_000)
    }

    /// On a host that nobody limits a cache stops before anybody is warned.
    @Test func onAHostTheCacheEndsWhereWarningBegins() {
        let bands = PressureThresholds().bytes(of: .gibibytes(8))
        let marks = Watermarks(host: bands)
        #expect(marks.low > bands.warningEnter.bytes && marks.high < bands.warningLeave.bytes)
        #expect(marks.min < bands.warningEnter.bytes && marks.min > bands.criticalEnter.bytes)
    }

    /// A full cache with two and a half megabytes of holes in its heap need not be looked at while nobody reads.
    @Test(arguments: [96, 128, 512, 4096]) func aFullCacheIsWatchedByTheKernel(mebibytes: Int) {
        let limit = ByteCount.mebibytes(mebibytes)
        #expect(Watermarks.notice(below: limit) < Watermarks(limit: limit).low - 2_500_000)
    }

    @Test func whatOthersTakeFastIsKeptFreeBeside() {
        let limit = ByteCount.mebibytes(256)
        let (quiet, swift) = (Watermarks(limit: limit), Watermarks(limit: limit, surge: 1e9))
        #expect(swift.high - quiet.high == 18_000_000)
        // However long nobody has taken anything.
        #expect(Watermarks(limit: limit, surge: 1e8) == quiet)
        #expect(Watermarks(limit: limit, surge: 1e12).high <= quiet.high + limit.bytes / 8)
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

    /// What the app takes out of its caches nobody has taken, also where the heap keeps it.
    @Test func whatOthersTakeIsToldFromWhatTheAppTakesOut() {
        var rate = FillRate()
        func note(_ milliseconds: Int64, left: Int, entrusted: Int) {
            let at = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
            rate.note(.mebibytes(left), entrusted: .mebibytes(entrusted), at: at)
        }
        note(0, left: 100, entrusted: 80)
        note(100, left: 40, entrusted: 20)
        #expect(rate.latest == 0 && rate.momentary == 0, "the app has taken 60 out")
        note(200, left: 10, entrusted: 10)
        #expect(abs(rate.latest - Double(20 << 20) * 10) < 1, "and of these 30 ten")
        note(300, left: 0, entrusted: 90)
        #expect(abs(rate.latest - Double(10 << 20) * 10) < 1, "it brings something, which is in what is left")
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
        room.count(HeapReading(usable: 20 << 20))
        #expect(room.bytes == 30 << 20)
        #expect(!room.wantsHeapBack, "without it there is room too")
        room = self.room
        room.count(HeapReading(usable: 500 << 20))
        #expect(room.bytes == 60 << 20)
        room = self.room
        room.overdraft = 2 << 20
        room.count(HeapReading(usable: -1 << 20))
        #expect(room.bytes == 10 << 20, "the rest of the process will need it, and it is there")
        room.count(HeapReading(usable: -5 << 20))
        #expect(room.bytes == 7 << 20, "it is not")
    }

    @Test func itIsWantedBackWhereReadersWouldWaitWithoutIt() {
        var room = room
        room.bytes = -5 << 20
        room.count(HeapReading(usable: 20 << 20))
        #expect(room.bytes == 15 << 20)
        #expect(room.wantsHeapBack)
        room.bytes = -5 << 20
        room.count(HeapReading(usable: 1 << 20))
        #expect(!room.wantsHeapBack, "too little to be worth it")
    }

    /// Of many small values giving it back takes long.
    @Test func whatOthersTakeWhileTheHeapIsGivenBackIsKeptFree() {
        func left(giving: Int64, leaving: Int64 = 0, surge: Double = 300e6) -> Int {
            var room = room
            room.surge = surge
            room.count(HeapReading(giving: .milliseconds(giving), leaving: .milliseconds(leaving)))
            return room.bytes - self.room.bytes
        }
        #expect(left(giving: 10) == 0, "the marks are made for that")
        #expect(left(giving: 10, leaving: 60) == -18_000_000)
        #expect(left(giving: 40) == -18_000_000)
        #expect(left(giving: 40, surge: 1) == -6_000_000, "however long nobody has taken anything")
        #expect(left(giving: 40, surge: 0) == 0, "a host without a limit")
        #expect(left(giving: 400) == -self.room.stride, "a twentieth of the limit at most")
    }

    /// And it is given back while there is enough left for that.
    @Test func theLongerItTakesTheSoonerItMustBeGivenBack() {
        var room = room
        (room.surge, room.overdraft) = (100e6, 15 << 20)
        room.bytes = -10 << 20
        room.count(HeapReading(usable: 20 << 20, giving: .milliseconds(10)))
        #expect(room.wantsHeapBack && !room.needsHeapBack)
        room.bytes = -10 << 20
        room.count(HeapReading(usable: 20 << 20, giving: .milliseconds(60)))
        #expect(room.needsHeapBack, "6 MB are taken meanwhile, and 5 MiB are left of half of the least")
    }

    /// What is free in the heap is nothing to others.
    @Test func whetherOthersHaveEnoughIsForTheSystemToSay() {
        var room = room
        room.isTaken = true
        room.count(HeapReading(usable: 50 << 20))
        #expect(!room.isShrinking && !room.isRelieved, "10 MiB beside")
        room.surge = 300e6
        room.reclaiming = .milliseconds(40)
        #expect(room.isShrinking, "12 MB are taken meanwhile")
        room.isTaken = false
        #expect(!room.isShrinking && room.isThin, "they have not begun")
        room.bytes += 40 << 20
        #expect(room.isRelieved)
    }
}

@Suite struct ReclaimableHeadroomTests {
    private func headroom(_ available: Int, reclaimable: Int) -> Headroom {
        var headroom = Headroom(available: .mebibytes(available), limit: .mebibytes(100))!
        headroom.reclaimable = .mebibytes(reclaimable)
        return headroom
    }

    /// As `MemAvailable` counts page cache.
    @Test func levelsGoByWhatCanBeHad() {
        var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
        for step in 0..<10 as Range<Int64> {
            let now = MonotonicInstant(nanoseconds: step * 1_000_000_000)
            evaluator.accept(headroom(5, reclaimable: 60), isWatched: false, reclaimTime: .milliseconds(200), at: now)
            #expect(evaluator.vote == .normal)
        }
        for step in 10..<20 as Range<Int64> {
            let now = MonotonicInstant(nanoseconds: step * 1_000_000_000)
            evaluator.accept(headroom(5, reclaimable: 12), isWatched: false, reclaimTime: .milliseconds(1), at: now)
        }
        #expect(evaluator.vote == .warning, "17 of 100 MiB")
    }

    /// An estimate that is corrected, and a cache that fills, take nothing from anybody.
    @Test func onlyWhatOthersTakeIsATrend() {
        var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
        var step: Int64 = 0
        func accept(available: Int, held: Int, reclaimable: Int) {
            step += 1
            var headroom = headroom(available, reclaimable: reclaimable)
            headroom.held = .mebibytes(held)
            let now = MonotonicInstant(nanoseconds: step * 10_000_000)
            evaluator.accept(headroom, isWatched: false, reclaimTime: .milliseconds(1), at: now)
        }
        for held in 20...85 { accept(available: 90 - held, held: held, reclaimable: held) }
        for turn in 0..<100 { accept(available: 5, held: 85, reclaimable: turn % 2 == 0 ? 85 : 60) }
        #expect(!evaluator.isTaken)
        #expect(evaluator.vote == .normal)
        for taken in 1...20 { accept(available: 5, held: 85 - taken, reclaimable: 85 - taken) }
        #expect(evaluator.isTaken, "20 MiB in a fifth of a second")
    }

    /// What the library gives back of its heap looks as if others had given it back; they go on.
    @Test func whoTakesMemoryIsTakenToGoOnWhileTheHeapIsGivenBack() {
        var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
        var now = MonotonicInstant(nanoseconds: 0)
        func accept(_ mebibytes: Int, of limit: Int = 1024) {
            now = now + .milliseconds(5)
            let headroom = Headroom(available: .mebibytes(mebibytes), limit: .mebibytes(limit))!
            evaluator.accept(headroom, isWatched: false, reclaimTime: .milliseconds(1), at: now)
        }
        for _ in 0..<10 { accept(900) }
        #expect(!evaluator.isTaken)
        for taken in 1...100 { accept(900 - 2 * taken) }
        #expect(evaluator.isTaken, "400 MiB a second, for half a second")
        accept(730)
        #expect(evaluator.isTaken, "30 MiB were given back")
        for _ in 0..<200 { accept(730) }
        #expect(!evaluator.isTaken)
    }

    /// The coming and going of a small cache's heap is a large part of a small limit: it counts for the moment only.
    @Test func whatIsMuchOfASmallLimitIsNoSurge() {
        var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
        func accept(_ step: Int64, available: Int) {
            let headroom = Headroom(available: .bytes(available), limit: .mebibytes(64))!
            let now = MonotonicInstant(nanoseconds: step * 5_000_000)
            evaluator.accept(headroom, isWatched: false, reclaimTime: .milliseconds(1), at: now)
        }
        for step in 0...40 as ClosedRange<Int64> { accept(step, available: 60_000_000 - Int(step) * 400_000) }
        #expect(evaluator.isTaken, "80 MB a second")
        accept(41, available: 54_000_000)
        #expect(!evaluator.isTaken)
    }

    /// Readers go by it; on a host without a limit the marks lie far from the end.
    @Test func theRoomOfALimitSaysHowFastOthersWere() throws {
        func surge(_ origin: PressureCause.Origin) throws -> Double {
            var classifier = PressureClassifier(thresholds: PressureThresholds(), sources: 1)
            for (step, available) in [90, 30].enumerated() {
                let now = MonotonicInstant(nanoseconds: Int64(step + 1) * 100_000_000)
                let measure = SignalReading.Measure.headroom(headroom(available, reclaimable: 0))
                let reading = SignalReading(origin: origin, source: "test", measure: measure, takenAt: now)
                _ = classifier.step([reading], at: now)
            }
            return try #require(classifier.admissionRoom()).surge
        }
        // 60 MiB in a tenth of a second, smoothed over a twentieth.
        #expect(abs(try surge(.cgroup) - 400 * 1_048_576) < 1_048_576)
        #expect(try surge(.memoryInfo) == 0)
    }

    /// The kernel notifies when a full cache's free rest is gone; where others were fast lately, that is not relied upon.
    @Test func whatAFullCacheLeavesIsLookedAtAsFastAsOthersTookIt() {
        func delay(idle seconds: Int64) -> Duration {
            var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
            for at in [0, seconds] {
                let now = MonotonicInstant(nanoseconds: at * 1_000_000_000)
                evaluator.accept(headroom(7, reclaimable: 85), isWatched: true, reclaimTime: .milliseconds(1), at: now)
            }
            return evaluator.pollDelay
        }
        let room = (7 << 20) - Watermarks(limit: .mebibytes(100)).min
        let expected = Duration.filling(room, at: .bytes(100_000_000))
        #expect(delay(idle: 30) > expected - .milliseconds(1) && delay(idle: 30) < expected + .milliseconds(1))
        #expect(delay(idle: 30) < .milliseconds(50))
        #expect(delay(idle: 600) > .milliseconds(500))
    }

    /// 27 MiB in 20 ms: what happened in the last half minute says little about the next 20.
    @Test func whatOthersDoThisMomentCountsMoreThanWhatTheyDid() {
        var evaluator = HeadroomEvaluator(thresholds: PressureThresholds(), timings: PressureTimings())
        func accept(_ available: Int, at milliseconds: Int64) {
            let now = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
            let headroom = headroom(available, reclaimable: 50)
            evaluator.accept(headroom, isWatched: true, reclaimTime: .milliseconds(1), at: now)
        }
        for second in 0..<600 as Range<Int64> { accept(45, at: second * 1000) }
        #expect(evaluator.surge < 1e6)
        accept(18, at: 599_020)
        #expect(evaluator.surge > 400e6)
        #expect(evaluator.pollDelay < .milliseconds(12), "15 MiB down to the least mark, at 1.4 GB/s")
        accept(18, at: 599_520)
        #expect(evaluator.surge < 130e6, "it was a moment's")
    }

    @Test func itIsNeverMoreThanTheLimit() {
        #expect(headroom(60, reclaimable: 60).attainable == .mebibytes(100))
        #expect(headroom(60, reclaimable: 60).share == 1)
    }

    @Test func theCauseSaysBoth() {
        let cause = PressureCause(
            origin: .cgroup,
            source: "app",
            available: .mebibytes(5),
            reclaimable: .mebibytes(12),
            limit: .mebibytes(100),
            levelBefore: .normal,
            levelAfter: .warning
        )
        #expect("\(cause)".contains("5.0 MiB of 100.0 MiB available and 12.0 MiB reclaimable"))
    }
}
