import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Synchronization
import Testing

@testable import PressureKit

/// Ages and stages: no cache, no clock.
@Suite struct LifetimeStageTests {
    private func stage(
        _ lifetime: Lifetime?,
        written: Int,
        read: Int? = nil,
        now: Int
    ) -> Lifetime.Stage? {
        func tick(_ milliseconds: Int) -> UInt32 {
            Lifetime.tick(at: MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000))
        }
        let age = ValueAge(written: tick(written)).read(at: tick(read ?? written))
        return lifetime?.stage(of: age, at: tick(now))
    }

    @Test func aTimeToLiveCountsFromTheWrite() {
        let lifetime = Lifetime(timeToLive: .seconds(10), timeToIdle: nil, refreshAfter: nil)
        #expect(stage(lifetime, written: 5_000, now: 14_950) == .fresh)
        #expect(stage(lifetime, written: 5_000, read: 14_900, now: 15_050) == .over)
    }

    @Test func aTimeToIdleCountsFromTheLastRead() {
        let lifetime = Lifetime(timeToLive: nil, timeToIdle: .seconds(10), refreshAfter: nil)
        #expect(stage(lifetime, written: 0, read: 9_000, now: 18_950) == .fresh)
        #expect(stage(lifetime, written: 0, read: 9_000, now: 19_050) == .over)
    }

    @Test func whicheverIsFirstEndsAValueAndRefreshingComesBefore() {
        let lifetime = Lifetime(timeToLive: .seconds(60), timeToIdle: .seconds(20), refreshAfter: .seconds(10))
        #expect(stage(lifetime, written: 0, now: 9_900) == .fresh)
        #expect(stage(lifetime, written: 0, read: 10_000, now: 10_100) == .due)
        #expect(stage(lifetime, written: 0, now: 20_100) == .over)
        #expect(stage(lifetime, written: 0, read: 59_000, now: 60_100) == .over)
    }

    @Test func nothingEndsWithoutATime() {
        #expect(Lifetime(timeToLive: nil, timeToIdle: nil, refreshAfter: nil) == nil)
    }

    /// Ticks are 32 bits of a clock that runs on.
    @Test func agesSurviveThatTicksWrap() {
        let lifetime = Lifetime(timeToLive: .seconds(10), timeToIdle: nil, refreshAfter: nil)
        let wrap = Int((Int64(UInt32.max) << 24) / 1_000_000)
        #expect(stage(lifetime, written: wrap - 5_000, now: wrap + 4_900) == .fresh)
        #expect(stage(lifetime, written: wrap - 5_000, now: wrap + 5_100) == .over)
    }

    @Test func aTimeOfManyYearsIsAYear() {
        let lifetime = Lifetime(timeToLive: .seconds(1e12), timeToIdle: nil, refreshAfter: nil)
        #expect(stage(lifetime, written: 0, now: 300 * 86_400_000) == .fresh)
        #expect(stage(lifetime, written: 0, now: 366 * 86_400_000) == .over)
    }
}

/// Values that end, in caches of every kind, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    let clock = ManualClock()
    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let controller: PressureController
    let loads = Shared(0)

    init() throws {
        manager = try makeManager(fileSystem: disk) { [clock] in $0.clock = clock }
        controller = try addController("app", to: manager.root)
    }

    /// Keyed, of either kind; the loader says how often it has run.
    private func cache(_ kind: LoaderKind, _ options: CacheOptions) throws -> EitherKeyedCache {
        try controller.keyedCache("tiles", kind, options: options) { [loads] key in
            loads.change { $0 += 1 }
            return [UInt8(key), UInt8(loads.value)]
        }
    }

    @Test(arguments: LoaderKind.allCases)
    func aValueThatHasLivedIsLoadedAnew(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, .init(timeToLive: .seconds(10)))
        #expect(try await cache.value(1) == [1, 1])
        clock.advance(by: .seconds(9))
        #expect(try await cache.value(1) == [1, 1], "and a read is no write")
        #expect(cache.contains(1) && cache.keys() == [1])
        clock.advance(by: .seconds(2))
        #expect(!cache.contains(1) && cache.keys().isEmpty)
        #expect(try await cache.valueIfPresent(1) == nil)
        #expect(try await cache.value(1) == [1, 2])
        clock.advance(by: .seconds(9))
        #expect(try await cache.value(1) == [1, 2])
        #expect(loads.value == 2 && cache.statistics().failures == 0)
    }

    @Test(arguments: LoaderKind.allCases)
    func whatIsReadStays(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, .init(timeToIdle: .seconds(10)))
        _ = try await cache.value(1)
        _ = try await cache.value(2)
        for _ in 0..<5 {
            clock.advance(by: .seconds(8))
            #expect(try await cache.value(1) == [1, 1])
        }
        #expect(try await cache.valueIfPresent(2) == nil)
        #expect(loads.value == 2)
    }

    @Test(arguments: LoaderKind.allCases)
    func settingAndUpdatingBeginsItAnew(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, .init(timeToLive: .seconds(10)))
        await cache.set([7], 1)
        clock.advance(by: .seconds(8))
        try await cache.update(1, { [] }) { $0.append(8) }
        clock.advance(by: .seconds(8))
        #expect(try await cache.value(1) == [7, 8])
        await cache.set([9], 1)
        clock.advance(by: .seconds(8))
        #expect(try await cache.value(1) == [9])
        clock.advance(by: .seconds(8))
        #expect(try await cache.value(1) == [1, 1])
    }

    /// Out of memory it ages as well; restoring it is no write.
    @Test(arguments: LoaderKind.allCases)
    func aSpilledValueEndsToo(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, .init(supportedDispositions: [.keep, .spill], timeToLive: .seconds(10)))
        for key in 1...2 { _ = try await cache.value(key) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency(1) == .spilled && cache.residency(2) == .spilled)
        clock.advance(by: .seconds(6))
        #expect(try await cache.value(1) == [1, 1], "restored")
        clock.advance(by: .seconds(6))
        #expect(try await cache.value(1) == [1, 3])
        #expect(try await cache.value(2) == [2, 4])
        #expect(cache.statistics().restores == 1)
    }

    @Test func withoutALoaderItIsGone() throws {
        let notes = try controller.keyedCache(
            "notes",
            key: Int.self,
            value: [UInt8].self,
            options: .init(timeToLive: .seconds(10))
        )
        let one = try controller.cache("one", options: .init(timeToIdle: .seconds(10)), initialValue: [UInt8](1...3))
        notes.set([1], for: 1)
        clock.advance(by: .seconds(9))
        #expect(try notes.value(for: 1) == [1])
        #expect(try one.value() == [1, 2, 3])
        clock.advance(by: .seconds(9))
        #expect(throws: PressureError.self) { try notes.value(for: 1) }
        #expect(notes.count == 0)
        #expect(try one.value() == [1, 2, 3])
        clock.advance(by: .seconds(11))
        #expect(one.ifLoaded { $0 } == nil)
        #expect(throws: PressureError.self) { try one.value() }
        try one.set([4])
        #expect(try one.value() == [4])
    }

    /// Whoever holds a value keeps it, and the next one gets another.
    @Test func aReaderKeepsWhatItHas() async throws {
        let cache = try controller.keyedCache("tiles", options: .init(timeToLive: .seconds(10))) { [loads] (key: Int) in
            loads.change { $0 += 1 }
            return [UInt8(loads.value)]
        }
        let one = try controller.cache("one", options: .init(timeToLive: .seconds(10))) { [loads] in
            loads.change { $0 += 1 }
            return [UInt8(loads.value)]
        }
        do {
            let leaseOfMany = try await cache.lease(for: 1)
            let leaseOfOne = try await one.lease()
            clock.advance(by: .seconds(11))
            #expect(try await cache.value(for: 1) == [3])
            #expect(try await one.value() == [4])
            #expect(leaseOfMany.value == [1] && leaseOfOne.value == [2])
        }
        #expect(cache.entry.pins == 0 && one.entry.pins == 0)
    }

    /// Under pressure what has ended goes first, and nothing is written of it, loader or not.
    @Test func whatHasEndedGoesFirstAndIsNotWritten() async throws {
        let mortal = try controller.keyedCache(
            "mortal",
            key: Int.self,
            value: [UInt8].self,
            options: .init(timeToLive: .seconds(10))
        )
        let lasting = try controller.keyedCache("lasting", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { lasting.set(makeBytes(100_000, seed: UInt64(key)), for: key) }
        for key in 0..<20 { mortal.set(makeBytes(100_000, seed: UInt64(key)), for: key) }
        clock.advance(by: .seconds(11))
        let report = await manager.reclaim(.kibibytes(1000))
        #expect((0..<20).allSatisfy { lasting.residency(for: $0) == .resident })
        #expect(mortal.residentByteCount <= .kibibytes(1000))
        #expect(report.stored == .zero, "\(report)")
        #expect(report.evictedCount > 0)
    }

    /// P1: between the look at a value's age and its mark, another value may be set in the same slot.
    @Test func onlyTheValueThatWasLookedAtMayBeDropped() throws {
        let one = try controller.cache("one", options: .init(timeToLive: .seconds(10)), initialValue: [UInt8](1...3))
        let slot = unsafe one.entry.slot.base
        clock.advance(by: .seconds(11))
        var before = ResidencyWord(rawValue: one.entry.state.rawValue &- 1 << 32)
        let stale = unsafe one.entry.wayOutOfEnded(slot, &before)
        #expect(stale == nil)
        #expect(!one.entry.state.isReloadable, "the word says that it is another value")
        var present = one.entry.state
        let fresh = unsafe one.entry.wayOutOfEnded(slot, &present)
        #expect(fresh == .drop)
        #expect(one.entry.state.isReloadable)
        try one.set([4])
        #expect(!one.entry.state.isReloadable)
        _ = unsafe one.entry.release(slot, dropping: true)
        #expect(try one.value() == [4])
    }

    /// Nor is anything written of it by a limit, though nothing may be dropped.
    @Test func aLimitWritesNothingOfWhatHasEnded() throws {
        let notes = try controller.keyedCache(
            "notes",
            key: Int.self,
            value: [UInt8].self,
            options: .init(supportedDispositions: [.keep, .spill], timeToLive: .seconds(10))
        )
        for key in 0..<50 { notes.set(makeBytes(1000, seed: UInt64(key)), for: key) }
        func enforce(_ count: Int) {
            notes.entry.countLimit.store(count, ordering: .relaxed)
            notes.entry.enforceLimit()
        }
        func spilled() -> Int { (0..<50).count { notes.residency(for: $0) == .spilled } }
        enforce(40)
        #expect(spilled() == 10)
        clock.advance(by: .seconds(11))
        enforce(10)
        #expect(spilled() == 10 && notes.residentByteCount == .bytes(10_000))
    }

    /// In quiet times no copy is made of it ahead of a warning.
    @Test func nothingIsCopiedAheadOfWhatHasEnded() throws {
        let one = try controller.cache("one", options: .init(timeToLive: .seconds(10)), initialValue: [UInt8](1...30))
        let entry = one.entry
        let work = CleaningWork()
        var line = ColdLine()
        line.note(UseClock.now, at: clock.now(), tick: UseClock.tick)
        clock.advance(by: .seconds(5))
        line.note(UseClock.now, at: clock.now(), tick: UseClock.tick)
        entry.list(in: work, behind: line, canSpill: true)
        #expect(!work.isEmpty || work.hasMore, "it is copied, or later")
        work.clear()
        clock.advance(by: .seconds(6))
        entry.list(in: work, behind: line, canSpill: true)
        #expect(work.isEmpty && !work.hasMore)
    }

    /// Memory of what nobody asks for comes back as other values come.
    @Test func whatNobodyAsksForGoesAsOthersCome() throws {
        let notes = try controller.keyedCache(
            "notes",
            key: Int.self,
            value: [UInt8].self,
            options: .init(timeToLive: .seconds(10))
        )
        for key in 0..<1000 { notes.set([1], for: key) }
        clock.advance(by: .seconds(11))
        for key in 1000..<3000 { notes.set([2], for: key) }
        #expect(notes.count == 2000)
        #expect(notes.keys.allSatisfy { $0 >= 1000 })
    }

    @Test func aSavedStateLeavesOutWhatHasEnded() async throws {
        let notes = try controller.keyedCache(
            "notes",
            key: Int.self,
            value: [UInt8].self,
            options: .init(timeToLive: .seconds(10))
        )
        let one = try controller.cache("one", options: .init(timeToLive: .seconds(10)), initialValue: [UInt8](1...3))
        notes.set([1], for: 1)
        clock.advance(by: .seconds(6))
        notes.set([2], for: 2)
        clock.advance(by: .seconds(6))
        let report = try await manager.saveState(to: "/var/tmp/state")
        #expect(report.caches == ["app/notes"])
        #expect(try await manager.restoreState(from: "/var/tmp/state").caches == ["app/notes"])
        #expect(try await notes.value(for: 2) == [2])
        #expect(!notes.contains(1) && one.ifLoaded { $0 } == nil)
    }

    // MARK: Refreshing

    @Test(arguments: LoaderKind.allCases)
    func aDueValueIsReadWhileItIsLoadedAnew(_ kind: LoaderKind) async throws {
        let gate = Gate()
        let cache = try controller.keyedCache("tiles", kind, options: .init(refreshAfter: .seconds(10)), gate: gate) {
            [loads] key in
            loads.change { $0 += 1 }
            return [UInt8(key), UInt8(loads.value)]
        }
        async let first = cache.value(1)
        await gate.untilArrivals(1)
        gate.open()
        #expect(try await first == [1, 1])
        gate.close()
        clock.advance(by: .seconds(11))
        for _ in 0..<10 { #expect(try await cache.value(1) == [1, 1], "nobody waits") }
        await gate.untilArrivals(2)
        #expect(try await cache.value(1) == [1, 1])
        gate.open()
        while try await cache.value(1) != [1, 2] { await Task.yield() }
        #expect(loads.value == 2, "one load, however many read")
        clock.advance(by: .seconds(9))
        #expect(try await cache.value(1) == [1, 2])
        #expect(loads.value == 2 && cache.statistics().failures == 0)
    }

    @Test func soIsAnOnlyValue() async throws {
        let cache = try controller.cache("one", options: .init(refreshAfter: .seconds(10))) { [loads] in
            loads.change { $0 += 1 }
            return [UInt8(loads.value)]
        }
        let other = try controller.cache("other", options: .init(refreshAfter: .seconds(10))) { [loads] () async in
            await Task.yield()
            loads.change { $0 += 1 }
            return [UInt8(loads.value)]
        }
        #expect(try await cache.value() == [1])
        #expect(try await other.value() == [2])
        clock.advance(by: .seconds(11))
        while try await cache.value() != [3] { await Task.yield() }
        while try await other.value() != [4] { await Task.yield() }
    }

    /// What was set meanwhile is newer than what the loader brings.
    @Test func whatIsSetMeanwhileStays() async throws {
        let gate = Gate()
        gate.open()
        let cache = try controller.keyedCache(
            "tiles",
            .blocking,
            options: .init(refreshAfter: .seconds(10)),
            gate: gate
        ) {
            [loads] key in
            loads.change { $0 += 1 }
            return [UInt8(loads.value)]
        }
        _ = try await cache.value(1)
        _ = try await cache.value(2)
        gate.close()
        clock.advance(by: .seconds(11))
        #expect(try await cache.value(1) == [1])
        #expect(try await cache.value(2) == [2])
        await gate.untilArrivals(4)
        await cache.set([9], 1)
        cache.invalidate(2)
        gate.open()
        while loads.value < 4 { await Task.yield() }
        _ = try await cache.value(2)
        #expect(try await cache.value(1) == [9])
        clock.advance(by: .seconds(11))
        #expect(try await cache.value(1) == [9], "and no loader makes it")
        #expect(loads.value <= 5)
    }

    /// The old value stays, the failure climbs, and there is no storm of further tries.
    @Test(arguments: LoaderKind.allCases)
    func aFailedRefreshLeavesTheOldValue(_ kind: LoaderKind) async throws {
        struct Refused: Error {}
        let heard = Shared(0)
        let cache = try controller.keyedCache(
            "tiles",
            kind,
            options: .init(timeToLive: .seconds(60), refreshAfter: .seconds(10))
        ) { [loads] key in
            loads.change { $0 += 1 }
            if loads.value == 2 { throw Refused() }
            return [UInt8(loads.value)]
        }
        cache.onFailure { _ in
            heard.change { $0 += 1 }
            return true
        }
        #expect(try await cache.value(1) == [1])
        clock.advance(by: .seconds(11))
        #expect(try await cache.value(1) == [1])
        while heard.value == 0 { await Task.yield() }
        for _ in 0..<100 { #expect(try await cache.value(1) == [1]) }
        #expect(loads.value == 2 && cache.statistics().failures == 1)
        clock.advance(by: .seconds(11))
        while try await cache.value(1) != [3] { await Task.yield() }
        #expect(heard.value == 1)
    }

    @Test func nothingIsRefreshedWhileMemoryIsShort() async throws {
        let cache = try cache(.blocking, .init(refreshAfter: .seconds(10)))
        _ = try await cache.value(1)
        clock.advance(by: .seconds(11))
        func become(_ level: PressureLevel) {
            let cause = PressureCause(origin: .simulated, source: "test", levelBefore: .normal, levelAfter: level)
            controller.context?.scene.note(cause)
        }
        become(.warning)
        for _ in 0..<100 { #expect(try await cache.value(1) == [1, 1]) }
        #expect(loads.value == 1)
        become(.normal)
        while try await cache.value(1) != [1, 2] { await Task.yield() }
    }

    // MARK: Options

    @Test func whatMakesNoSenseIsRefused() throws {
        for options in [
            CacheOptions(timeToLive: .zero), CacheOptions(timeToIdle: .seconds(-1)),
            CacheOptions(timeToLive: .seconds(5), refreshAfter: .seconds(5)),
        ] {
            let error = #expect(throws: PressureError.self) {
                try controller.keyedCache("tiles", options: options) { (key: Int) in [UInt8(key)] }
            }
            #expect(error?.code == .invalidConfiguration && error?.path == "app")
            #expect(throws: PressureError.self) { try controller.cache("one", options: options) { [UInt8(1)] } }
        }
        let error = #expect(throws: PressureError.self) {
            try controller.cache("one", of: [UInt8].self, options: .init(refreshAfter: .seconds(5)))
        }
        #expect(error?.message.contains("no loader") == true)
    }
}
