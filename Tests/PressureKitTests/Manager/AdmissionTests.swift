import CLinuxShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals

@Suite(.timeLimit(.minutes(5))) struct AdmissionTests {
    /// A supply that a test plays.
    final class Bank: Sendable {
        struct State {
            var room: AdmissionRoom?
            var wanted: [ByteCount] = []
            var refreshes = 0
        }

        let state: Lock<State>
        let clock = ManualClock()
        let books = MemoryBooks()
        let answer: @Sendable (ByteCount) -> ByteCount?

        /// `answer` says what a reclaim brings; `nil` for one that never ends.
        init(room: ByteCount?, overdraft: ByteCount = .zero, answer: @escaping @Sendable (ByteCount) -> ByteCount?) {
            state = Lock(
                State(
                    room: room.map {
                        AdmissionRoom(
                            bytes: $0.bytes,
                            takenAt: MonotonicInstant(nanoseconds: 0),
                            overdraft: overdraft.bytes
                        )
                    }
                )
            )
            self.answer = answer
        }

        var wanted: [ByteCount] { state.withLock { $0.wanted } }

        func admission(patience: Duration = .seconds(60), firstLimit: Int? = nil) -> Admission {
            let admission = Admission(clock: clock, books: books, patience: patience, firstLimit: firstLimit)
            admission.connect(
                Admission.Supply(
                    room: { self.state.withLock { $0.room } },
                    refresh: {
                        self.state.withLock { state in
                            state.refreshes += 1
                            state.room?.takenAt = self.clock.now()
                            return state.room
                        }
                    },
                    reclaim: { bytes, done in
                        self.state.withLock { $0.wanted.append(bytes) }
                        guard let returned = self.answer(bytes) else { return }
                        if returned > .zero { self.books.note(-returned.bytes) }
                        done(returned)
                    }
                )
            )
            return admission
        }
    }

    /// Many loaders at a time take as much for what they make their values of; a restore does not.
    @Test func whatALoaderMakesItsValueOfCountsUntilItHasEnded() {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        let admission = bank.admission()
        let load = admission.admit(4 << 20, isLoaded: true)
        #expect(bank.wanted == [])
        admission.end(admission.admit(2 << 20))
        #expect(bank.wanted == [])
        admission.end(admission.admit(2 << 20, isLoaded: true))
        #expect(bank.wanted == [.mebibytes(2)])
        admission.books.note(4 << 20)
        admission.end(load)
        admission.end(admission.admit(6 << 20))
        #expect(bank.wanted == [.mebibytes(2)], "only the value itself is left of the load")
    }

    @Test func unconnectedOrUnwatchedEverythingIsLetIn() {
        let admission = Admission(clock: ManualClock())
        admission.end(admission.admit(1 << 40))
        #expect(admission.counts.admitted == 0)
        let bank = Bank(room: nil) { $0 }
        let watched = bank.admission()
        watched.end(watched.admit(1 << 40))
        #expect(watched.counts.admitted == 1)
        #expect(bank.wanted.isEmpty)
    }

    @Test func aLoadThatDoesNotFitHasThatMuchFreedFirst() {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        let admission = bank.admission()
        let pass = admission.admit(30 << 20)
        #expect(bank.wanted == [.mebibytes(20)])
        #expect(admission.counts.reclaimed == 1)
        admission.end(pass)
    }

    @Test func anUnknownSizeIsLetIn() {
        let bank = Bank(room: .zero) { $0 }
        let admission = bank.admission()
        admission.end(admission.admit(0))
        #expect(bank.wanted.isEmpty)
    }

    @Test func anOldSampleIsRenewedFirst() {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        bank.clock.advance(by: .seconds(3))
        let admission = bank.admission()
        admission.end(admission.admit(9 << 20))
        #expect(bank.state.withLock { $0.refreshes } == 1)
        #expect(bank.wanted.isEmpty)
        #expect(admission.counts.admitted == 1)
    }

    /// A reclaim that never ends, and from which nothing comes: each reader goes on after its own patience.
    @Test func waitingIsBoundedWhereNothingComesFree() {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .milliseconds(10))
        let first = admission.admit(5 << 20)
        let second = admission.admit(5 << 20)
        #expect(bank.wanted == [.mebibytes(5), .mebibytes(10)], "each waits, and asks for what is missing with it")
        #expect(admission.counts.overdrawn == 2)
        admission.end(first)
        admission.end(second)
    }

    @Test func aFruitlessReclaimIsNotAskedForAgainAtOnce() {
        let bank = Bank(room: .zero) { _ in .zero }
        let admission = bank.admission(patience: .milliseconds(1))
        for _ in 0..<10 { admission.end(admission.admit(5 << 20)) }
        #expect(bank.wanted.count == 1)
        #expect(admission.counts.overdrawn == 10)
        bank.clock.advance(by: Admission.pause)
        bank.state.withLock { $0.room?.takenAt = bank.clock.now() }
        admission.end(admission.admit(5 << 20))
        #expect(bank.wanted.count == 2, "after a while it is tried again")
    }

    /// A slow reclaim, of which no end is in sight: the readers' patience is over long before, and those for whom the
    /// overdraft has room go; the others wait for bytes, and go as these come.
    @Test func whatGoesWithoutRoomIsBoundedInBytes() throws {
        let bank = Bank(room: .zero, overdraft: .mebibytes(8)) { _ in nil }
        let admission = bank.admission()
        var waits = try (0..<6).map { _ in
            let (pass, supply) = admission.begin(4 << 20, isLoaded: false)
            let begun = admission.beginWaiting(for: pass, .mebibytes(4), try #require(supply))
            return try #require(begun)
        }
        /// All who wait look once.
        func letIn() {
            for index in waits.indices.reversed() {
                guard case .found(let outcome) = admission.look(&waits[index]), admission.isOver(&waits[index], outcome)
                else {
                    continue
                }
                // In memory from now on.
                admission.books.note(4 << 20)
                admission.end(waits.remove(at: index).pass)
            }
        }
        /// Everybody's patience ends. Something comes free all the time, so that nobody takes the disk for stuck.
        func endPatience() {
            admission.books.note(-1)
            for index in waits.indices { #expect(!admission.isOver(&waits[index], nil)) }
        }
        letIn()
        #expect(waits.count == 6, "they are patient")
        for _ in 0..<3 {
            endPatience()
            letIn()
            #expect(waits.count == 4, "eight mebibytes, and not all that have waited long enough")
        }
        for left in (0..<4).reversed() {
            admission.books.note(-4 << 20)
            letIn()
            #expect(waits.count == left)
            endPatience()
        }
        #expect(admission.books.reading.growth(since: .init()) <= 8 << 20)
    }

    /// The reclaim is still at it, but what this reader needs has come free.
    @Test func aReaderGoesOnWhenItsOwnBytesAreFree() throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let entered = ConditionLock(false)
        try WorkerThread.spawn("reader") {
            admission.end(admission.admit(4 << 20))
            entered.withLock { $0 = true }
        }
        while bank.wanted.isEmpty { sched_yield() }
        admission.books.note(-2 << 20)
        #expect(!entered.withLock { $0 })
        admission.books.note(-2 << 20)
        entered.wait { $0 ? () : nil }
        #expect(admission.counts.reclaimed == 1)
    }

    /// The thread that would have to free the memory never waits for itself to do so.
    @Test func aHookOnTheReclaimThreadDoesNotWait() throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let ended = ConditionLock(false)
        try WorkerThread.spawn("exempt") {
            Admission.exemptThisThread()
            admission.end(admission.admit(5 << 20))
            ended.withLock { $0 = true }
        }
        ended.wait { $0 ? () : nil }
        #expect(bank.wanted.isEmpty)
        #expect(admission.counts.overdrawn == 1)
    }

    /// What comes in after the background reclaim has found nothing may leave, and is not left alone for a tenth of a second.
    @Test func theBackgroundReclaimRestsUntilMuchHasComeIn() {
        let clock = ManualClock()
        let admission = Admission(clock: clock)
        let room: @Sendable () -> AdmissionRoom? = {
            AdmissionRoom(bytes: -1 << 20, takenAt: clock.now(), low: 4 << 20, high: 8 << 20, overdraft: 2 << 20)
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        admission.note(batch: 0, isExhausted: true)
        #expect(admission.backgroundWish() == nil)
        admission.books.note(7 << 20)
        #expect(admission.backgroundWish() == nil)
        admission.books.note(1 << 20)
        #expect(admission.backgroundWish() != nil)
    }

    /// Others take it meanwhile, and a tenth of a second is long.
    @Test func whileOthersTakeMemoryTheBackgroundReclaimRestsUntilLittleHasComeIn() {
        let clock = ManualClock()
        let admission = Admission(clock: clock)
        let room: @Sendable () -> AdmissionRoom? = {
            var room = AdmissionRoom(bytes: -1 << 20, takenAt: clock.now(), low: 4 << 20, high: 8 << 20)
            room.isTaken = true
            return room
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        admission.note(batch: 0, isExhausted: true)
        admission.books.note(1 << 19)
        #expect(admission.backgroundWish() == nil)
        admission.books.note(1 << 19)
        #expect(admission.backgroundWish() != nil)
    }

    /// What the first had freed is there for those behind it, although no monitor has looked yet.
    @Test func oneShortageIsFreedOnce() {
        let clock = ManualClock()
        let left = Lock(AdmissionRoom(bytes: 0, takenAt: clock.now()))
        let wanted = Lock<[ByteCount]>([])
        let books = MemoryBooks()
        let admission = Admission(clock: clock, books: books)
        admission.connect(
            Admission.Supply(
                room: { left.withLock { $0 } },
                refresh: { left.withLock { $0 } },
                reclaim: { bytes, done in
                    wanted.withLock { $0.append(bytes) }
                    // More than was asked for: values are as large as they are.
                    books.note(-100 << 20)
                    clock.advance(by: .milliseconds(3))
                    done(.mebibytes(100))
                }
            )
        )
        for _ in 0..<8 { admission.end(admission.admit(5 << 20)) }
        #expect(wanted.withLock { $0 } == [.mebibytes(5)])
        #expect(admission.counts.reclaimed == 1 && admission.counts.admitted == 7)
    }

    /// Small loads ask once for many, and a new sample has the next one ask again.
    @Test func whatHasCreditLooksAtNothing() {
        let looks = Lock(0)
        let room = AdmissionRoom(bytes: 64 << 20, takenAt: ManualClock().now())
        let admission = Admission(clock: ManualClock())
        admission.connect(
            Admission.Supply(
                room: {
                    looks.withLock { $0 += 1 }
                    return room
                },
                refresh: { room },
                reclaim: { bytes, done in done(bytes) }
            )
        )
        func load(_ bytes: Int) {
            let pass = admission.admit(bytes)
            admission.books.note(bytes)
            admission.end(pass)
        }
        load(4096)
        let first = looks.withLock { $0 }
        for _ in 0..<2000 { load(4096) }
        #expect(looks.withLock { $0 } == first, "eight mebibytes of credit")
        load(4096 * 100)
        #expect(looks.withLock { $0 } > first)
        let second = looks.withLock { $0 }
        load(4096)
        #expect(looks.withLock { $0 } == second)
        admission.keepWatermarks()
        let third = looks.withLock { $0 }
        load(4096)
        #expect(looks.withLock { $0 } > third, "a new sample")
        #expect(admission.counts.admitted == 2004)
    }

    /// Giving the heap back keeps whoever allocates waiting, so that it is not done all the time; but in need it is.
    @Test func theHeapRestsAfterItWasGivenBack() {
        let clock = ManualClock()
        let bytes = Lock(1 << 20)
        let admission = Admission(clock: clock)
        let room: @Sendable () -> AdmissionRoom? = {
            var room = AdmissionRoom(
                bytes: bytes.withLock { $0 },
                takenAt: clock.now(),
                low: 4 << 20,
                high: 8 << 20,
                overdraft: 2 << 20
            )
            room.heap = 2 << 20
            return room
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        #expect(admission.backgroundWish()?.givesHeapBack == true)
        clock.advance(by: .milliseconds(2))
        admission.noteHeapGivenBack(in: .milliseconds(2))
        #expect(admission.backgroundWish()?.givesHeapBack == false)
        clock.advance(by: .milliseconds(99))
        #expect(admission.backgroundWish()?.givesHeapBack == false)
        bytes.withLock { $0 = -1 << 20 }
        #expect(admission.backgroundWish()?.givesHeapBack == true, "more than half of the reserve is gone")
        bytes.withLock { $0 = 1 << 20 }
        clock.advance(by: .milliseconds(1))
        #expect(admission.backgroundWish()?.givesHeapBack == true)
    }

    /// Where more of the room is free heap than others could wait for, small values leave whole pages, and as seldom as the heap is
    /// given back; if the system is short, at once.
    @Test(arguments: [(7, 3, true), (7, 2, false), (3, 4, true)])
    func regionsAreEmptiedWhileOthersHaveNotBegun(left: Int, heap: Int, empties: Bool) {
        let clock = ManualClock()
        let bytes = Lock(left << 20)
        let admission = Admission(clock: clock)
        let room: @Sendable () -> AdmissionRoom? = {
            var room = AdmissionRoom(
                bytes: bytes.withLock { $0 },
                takenAt: clock.now(),
                low: 8 << 20,
                high: 16 << 20,
                overdraft: 2 << 20
            )
            // 100 MB/s are taken to be possible: 5 MB meanwhile.
            (room.heap, room.surge, room.reclaiming) = (heap << 20, 1, .milliseconds(50))
            return room
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        #expect(admission.backgroundWish()?.emptiesRegions == empties)
        admission.noteHeapGivenBack(in: .milliseconds(2))
        clock.advance(by: .milliseconds(1))
        #expect(admission.backgroundWish()?.emptiesRegions == false)
        bytes.withLock { $0 = (heap - 3) << 20 }
        #expect(admission.backgroundWish()?.emptiesRegions == true)
    }

    /// An app that has emptied a cache fills it again: what it left in the heap makes room before a value does. What is here and there
    /// makes none.
    @Test(arguments: [(true, 40, 2, true), (true, 40, 20, false), (true, 9, 2, false), (false, 40, 2, false)])
    func whatIsFreeInTheHeapGoesBeforeValues(yieldsMuch: Bool, heap: Int, left: Int, givesBack: Bool) {
        let clock = ManualClock()
        let books = MemoryBooks()
        let admission = Admission(clock: clock, books: books)
        let room: @Sendable () -> AdmissionRoom? = {
            var room = AdmissionRoom(bytes: left << 20, takenAt: clock.now(), low: 6 << 20, high: 8 << 20)
            room.count(HeapReading(usable: heap << 20, yieldsMuch: yieldsMuch))
            return room
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        // Since the sample.
        books.note(6 << 20)
        let wish = admission.backgroundWish()
        #expect((wish?.givesHeapBack ?? false) == givesBack)
        #expect((wish == nil) == (left == 20), "only where values would leave")
    }

    /// Nothing may leave, and the heap is needed, however often it was given back: one look in a pause, and one at a sample.
    @Test func aHeapThatIsNeededKeepsTheBackgroundReclaimFromNoRest() {
        let clock = ManualClock()
        let samples = Lock(clock.now())
        let admission = Admission(clock: clock)
        let room: @Sendable () -> AdmissionRoom? = {
            var room = AdmissionRoom(
                bytes: -1 << 20,
                takenAt: samples.withLock { $0 },
                low: 4 << 20,
                high: 8 << 20,
                overdraft: 2 << 20
            )
            room.heap = 2 << 20
            return room
        }
        admission.connect(.init(room: room, refresh: room, reclaim: { _, done in done(.zero) }))
        #expect(admission.backgroundWish()?.givesHeapBack == true)
        admission.noteHeapGivenBack(in: .milliseconds(2))
        #expect(admission.backgroundWish()?.givesHeapBack == false)
        #expect(admission.backgroundWish().map { $0.bytes > 0 } == true)
        admission.note(batch: 0, isExhausted: true)
        #expect(admission.backgroundWish() == nil)
        clock.advance(by: .milliseconds(50))
        samples.withLock { $0 = clock.now() }
        #expect(admission.backgroundWish()?.givesHeapBack == true)
        #expect(admission.backgroundWish()?.bytes == 0, "still nothing may leave")
        admission.noteHeapGivenBack(in: .milliseconds(2))
        #expect(admission.backgroundWish() == nil)
        clock.advance(by: Admission.pause)
        #expect(admission.backgroundWish().map { $0.bytes > 0 } == true)
    }

    @Test func manyReadersAtOnceAskForAllOfIt() async {
        let bank = Bank(room: .zero) { $0 }
        let admission = bank.admission()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { admission.end(admission.admit(2 << 20)) } }
        }
        let counts = admission.counts
        #expect(counts.admitted + counts.reclaimed + counts.overdrawn == 16)
        #expect(bank.wanted.allSatisfy { $0 >= .mebibytes(1) && $0 <= .mebibytes(32) })
    }

    /// With a real monitor and a real reclaim: what is evictable makes room for what is to be loaded.
    @Test func aManagersAdmissionFreesWhatALoadNeeds() async throws {
        let simulated = SimulatedSource()
        simulated.set(available: .mebibytes(400), of: .mebibytes(1000))
        var configuration = PressureConfiguration()
        configuration.sources = [.simulated(simulated)]
        let manager = try PressureManager(configuration: configuration)
        let cache = try manager.root.cache("held") { [UInt8](repeating: 7, count: 8 << 20) }
        try cache.withValue { _ in }
        let task = Task { try await manager.run() }
        while manager.snapshot().available == nil { await Task.yield() }
        let admission = manager.context.admission
        admission.end(admission.admit(100 << 20))
        #expect(cache.isLoaded, "more than 300 MiB to go")
        admission.end(admission.admit(372 << 20))
        #expect(!cache.isLoaded)
        let counts = manager.snapshot().admission
        #expect(counts.admitted == 1)
        #expect(counts.reclaimed + counts.overdrawn == 1)
        task.cancel()
        _ = try? await task.value
        await manager.shutdown()
    }

    /// Hooks are called while a reclaim waits for them: what they load must not wait for the reclaim.
    @Test func noHookOfAReclaimEverWaitsForOne() async throws {
        final class Hooks: PressureControllerDelegate, PressureManagerDelegate {
            let exempt = Lock<[Bool]>([])
            func didReceiveMemoryWarning(_ warning: MemoryWarning) { note() }
            func resourceDidEvict(_ resource: PressureResource) { note() }
            func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { note() }
            private func note() { exempt.withLock { $0.append(pk_is_exempt_thread()) } }
        }
        let hooks = Hooks()
        var configuration = PressureConfiguration()
        configuration.sources = []
        let manager = try PressureManager(configuration: configuration)
        manager.delegate = hooks
        manager.root.delegate = hooks
        let cache = try manager.root.cache("held") { [UInt8](repeating: 7, count: 1 << 20) }
        try cache.withValue { _ in }
        _ = await manager.simulateMemoryWarning(.critical)
        await manager.shutdown()
        #expect(hooks.exempt.withLock { $0 } == [true, true, true])
        #expect(!pk_is_exempt_thread())
    }
}
