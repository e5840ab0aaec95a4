import CLinuxShims
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct AdmissionLedgerTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    private func room(_ mebibytes: Int, at milliseconds: Int64 = 0) -> AdmissionRoom {
        AdmissionRoom(bytes: mebibytes << 20, takenAt: at(milliseconds))
    }

    @Test func whatFitsGoes() {
        var ledger = AdmissionLedger()
        ledger.begin(10 << 20)
        #expect(ledger.verdict(on: 10 << 20, room: room(100), at: at(0)) == .go)
        #expect(ledger.verdict(on: 10 << 20, room: nil, at: at(0)) == .go)
    }

    @Test func whatWouldCrossIntoCriticalNeedsThatMuchFreed() {
        var ledger = AdmissionLedger()
        ledger.begin(130 << 20)
        #expect(ledger.verdict(on: 130 << 20, room: room(100), at: at(0)) == .relieve(.mebibytes(30)))
    }

    /// Behind the threshold the shortage goes as well, as far as it is not out of proportion.
    @Test(arguments: [(-20, 25), (-64, 69), (-900, 69)])
    func behindTheThresholdTheShortageIsAskedForToo(room: Int, wanted: Int) {
        var ledger = AdmissionLedger()
        ledger.begin(5 << 20)
        #expect(ledger.verdict(on: 5 << 20, room: self.room(room), at: at(0)) == .relieve(.mebibytes(wanted)))
    }

    @Test func whatIsUnderWayAndWhatArrivedSinceTheSampleCount() {
        var ledger = AdmissionLedger()
        ledger.begin(40 << 20)
        ledger.begin(40 << 20)
        ledger.end(40 << 20, at: at(5))
        ledger.begin(40 << 20)
        #expect(ledger.margin(in: room(100)) == -20 << 20)
        #expect(ledger.margin(in: room(100, at: 6)) == 20 << 20, "the sample shows the one that has arrived")
    }

    @Test func anOldSampleDoesNotDecideAboutALargeLoad() {
        var ledger = AdmissionLedger()
        ledger.begin(40 << 20)
        #expect(ledger.verdict(on: 40 << 20, room: room(100), at: at(100)) == .look)
        #expect(ledger.verdict(on: 40 << 20, room: room(1000), at: at(100)) == .go)
        #expect(ledger.verdict(on: 40 << 20, room: room(10), at: at(100)) == .look)
    }

    /// Or readers that come while the sample is young would have the same shortage freed again and again.
    @Test func aSampleFromBeforeAReliefDoesNotDecideAboutShortages() {
        var ledger = AdmissionLedger()
        ledger.begin(5 << 20)
        #expect(ledger.verdict(on: 5 << 20, room: room(-20), at: at(1)) == .relieve(.mebibytes(25)))
        ledger.noteRelief(at: at(4))
        #expect(ledger.verdict(on: 5 << 20, room: room(-20), at: at(5)) == .look)
        #expect(ledger.verdict(on: 5 << 20, room: room(5, at: 5), at: at(5)) == .go)
        #expect(ledger.verdict(on: 5 << 20, room: room(-1, at: 5), at: at(5)) == .relieve(.mebibytes(6)))
        #expect(ledger.verdict(on: 5 << 20, room: room(1000), at: at(5)) == .go, "there is plenty either way")
    }

    @Test func aFewSmallValuesAreNotWorthARelief() {
        var ledger = AdmissionLedger()
        ledger.begin(4096)
        let room = AdmissionRoom(bytes: -1, takenAt: at(0))
        #expect(ledger.verdict(on: 4096, room: room, at: at(0)) == .go)
    }

    /// Many small ones are.
    @Test func smallValuesAddUp() {
        var ledger = AdmissionLedger()
        var verdicts: [AdmissionLedger.Verdict] = []
        for _ in 0..<600 {
            ledger.begin(4096)
            verdicts.append(ledger.verdict(on: 4096, room: room(0), at: at(0)))
            ledger.end(4096, at: at(1))
        }
        #expect(verdicts.first == .go)
        #expect(verdicts.last == .relieve(.bytes(600 * 4096)))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func nothingIsLostOrCountedTwice(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ledger = AdmissionLedger()
        var open: [Int] = []
        var ended: [(at: Int64, bytes: Int)] = []
        for step in 0..<500 as Range<Int64> {
            if Bool.random(using: &random) || open.isEmpty {
                open.append(Int.random(in: 1...1000, using: &random))
                ledger.begin(open.last!)
            } else {
                let bytes = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                ledger.end(bytes, at: at(step))
                ended.append((step, bytes))
            }
            // The ledger keeps the newest few apart, and is exact about them.
            let since = ended.suffix(4).first?.at ?? step
            let arrived = ended.filter { $0.at > since }.reduce(0) { $0 + $1.bytes }
            let margin = ledger.margin(in: AdmissionRoom(bytes: 1 << 30, takenAt: at(since)))
            #expect(margin == (1 << 30) - open.reduce(0, +) - arrived, "seed \(seed), step \(step)")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct AdmissionTests {
    /// A supply that a test plays.
    private final class Bank: Sendable {
        struct State {
            var room: AdmissionRoom?
            var wanted: [ByteCount] = []
            var refreshes = 0
        }

        let state: Lock<State>
        let clock = ManualClock()
        let answer: @Sendable (ByteCount) -> ByteCount?

        /// `answer` says what a relief brings; `nil` for one that never ends.
        init(room: ByteCount?, answer: @escaping @Sendable (ByteCount) -> ByteCount?) {
            state = Lock(
                State(room: room.map { AdmissionRoom(bytes: $0.bytes, takenAt: MonotonicInstant(nanoseconds: 0)) })
            )
            self.answer = answer
        }

        var wanted: [ByteCount] { state.withLock { $0.wanted } }

        func admission(patience: Duration = .seconds(60)) -> Admission {
            let admission = Admission(clock: clock, patience: patience)
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
                    relieve: { bytes, done in
                        self.state.withLock { $0.wanted.append(bytes) }
                        if let returned = self.answer(bytes) { done(returned) }
                    }
                )
            )
            return admission
        }
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
        #expect(admission.counts.relieved == 1)
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

    /// A relief that never ends: the reader goes on after its patience, and the next ones do not wait for another.
    @Test func waitingIsBoundedAndNotRepeated() {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .milliseconds(10))
        let first = admission.admit(5 << 20)
        let second = admission.admit(5 << 20)
        #expect(bank.wanted == [.mebibytes(5)])
        #expect(admission.counts.overdrawn == 2)
        admission.end(first)
        admission.end(second)
        bank.clock.advance(by: .seconds(1))
        bank.state.withLock { $0.room?.takenAt = bank.clock.now() }
        admission.end(admission.admit(5 << 20))
        #expect(bank.wanted.count == 2, "after a while it is tried again")
    }

    @Test func aFruitlessReliefIsNotAskedForAgainAtOnce() {
        let bank = Bank(room: .zero) { _ in .zero }
        let admission = bank.admission()
        for _ in 0..<10 { admission.end(admission.admit(5 << 20)) }
        #expect(bank.wanted.count == 1)
        #expect(admission.counts.overdrawn == 10)
    }

    /// The thread that would have to free the memory never waits for itself to do so.
    @Test func aHookOnTheReliefThreadDoesNotWait() throws {
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

    /// What the first had freed is there for those behind it, although no monitor has looked yet.
    @Test func oneShortageIsFreedOnce() {
        let clock = ManualClock()
        let left = Lock(AdmissionRoom(bytes: 0, takenAt: clock.now()))
        let real = Lock(0)
        let wanted = Lock<[ByteCount]>([])
        let admission = Admission(clock: clock)
        admission.connect(
            Admission.Supply(
                room: { left.withLock { $0 } },
                refresh: {
                    let room = AdmissionRoom(bytes: real.withLock { $0 }, takenAt: clock.now())
                    left.withLock { $0 = room }
                    return room
                },
                relieve: { bytes, done in
                    wanted.withLock { $0.append(bytes) }
                    // More than was asked for: values are as large as they are.
                    real.withLock { $0 += 100 << 20 }
                    clock.advance(by: .milliseconds(3))
                    done(.mebibytes(100))
                }
            )
        )
        for _ in 0..<8 { admission.end(admission.admit(5 << 20)) }
        #expect(wanted.withLock { $0 } == [.mebibytes(5)])
        #expect(admission.counts.relieved == 1 && admission.counts.admitted == 7)
    }

    @Test func manyReadersAtOnceAskForAllOfIt() async {
        let bank = Bank(room: .zero) { $0 }
        let admission = bank.admission()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { admission.end(admission.admit(2 << 20)) } }
        }
        let counts = admission.counts
        #expect(counts.admitted + counts.relieved + counts.overdrawn == 16)
        #expect(bank.wanted.allSatisfy { $0 >= .mebibytes(1) && $0 <= .mebibytes(32) })
    }

    /// With a real monitor and a real relief: what is evictable makes room for what is to be loaded.
    @Test func aManagersAdmissionFreesWhatALoadNeeds() async throws {
        let simulated = SimulatedSource()
        simulated.set(available: .mebibytes(400), of: .mebibytes(1000))
        var configuration = PressureConfiguration()
        configuration.sources = [.simulated(simulated)]
        let manager = try PressureManager(configuration: configuration)
        let cache = manager.root.cache("held") { [UInt8](repeating: 7, count: 8 << 20) }
        try cache.withValue { _ in }
        let task = Task { try await manager.run() }
        while manager.snapshot().available == nil { await Task.yield() }
        let admission = manager.context.admission
        admission.end(admission.admit(100 << 20))
        #expect(cache.isLoaded, "300 MiB to go until critical")
        admission.end(admission.admit(306 << 20))
        #expect(!cache.isLoaded)
        let counts = manager.snapshot().admission
        #expect(counts.admitted == 1)
        #expect(counts.relieved + counts.overdrawn == 1)
        task.cancel()
        _ = try? await task.value
        await manager.shutdown()
    }

    /// What the app made itself is there already: outside of tasks its maker is slowed down, in a task nobody waits.
    @Test func aValueThatWasSetIsRelievedAfterwards() async throws {
        let bank = Bank(room: .mebibytes(10)) { $0 }
        let admission = bank.admission()
        let ended = ConditionLock(false)
        try WorkerThread.spawn("setter") {
            admission.arrived(8 << 20)
            admission.arrived(16 << 20)
            ended.withLock { $0 = true }
        }
        ended.wait { $0 ? () : nil }
        #expect(bank.wanted == [.mebibytes(6)])
        #expect(admission.counts.relieved == 1)

        let stuck = Bank(room: .zero) { _ in nil }
        let other = stuck.admission(patience: .seconds(3600))
        await Task {
            other.arrived(8 << 20)
            other.arrived(8 << 20)
        }.value
        #expect(stuck.wanted == [.mebibytes(8)], "asked for once, and not waited for")
    }

    /// Hooks are called while a relief waits for them: what they load must not wait for the relief.
    @Test func noHookOfAReliefEverWaitsForOne() async throws {
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
        let cache = manager.root.cache("held") { [UInt8](repeating: 7, count: 1 << 20) }
        try cache.withValue { _ in }
        _ = await manager.simulateMemoryWarning(.critical)
        await manager.shutdown()
        #expect(hooks.exempt.withLock { $0 } == [true, true, true])
        #expect(!pk_is_exempt_thread())
    }
}
