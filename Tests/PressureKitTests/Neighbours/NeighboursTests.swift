#if !THREAD_SANITIZER  // Makes or weighs processes.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Several managers below one limit, in virtual time, one thing after the other.
@Suite(.timeLimit(.minutes(10))) struct NeighboursTests {
    /// What all of them are below, as a cgroup's files would tell.
    private final class Limit: Sendable {
        let bytes: Int
        let clock = ManualClock()
        let board = InMemoryBoard()
        let others = Lock(8 << 20)
        let held = Lock<[Int]>([])

        init(mebibytes: Int) { bytes = mebibytes << 20 }

        var available: Int { max(0, bytes - others.withLock { $0 } - held.withLock { $0.reduce(0, +) }) }
        var use: Double { 1 - Double(available) / Double(bytes) }
    }

    private final class LimitSource: SignalSource {
        let name = "/limit"
        let limit: Limit
        let hasUpdated: @Sendable () -> Void

        init(_ limit: Limit, hasUpdated: @escaping @Sendable () -> Void) {
            self.limit = limit
            self.hasUpdated = hasUpdated
        }

        func sample(at now: MonotonicInstant) -> SignalReading? {
            hasUpdated()
            return Headroom(available: .bytes(limit.available), limit: .bytes(limit.bytes)).map {
                SignalReading(origin: .cgroup, source: name, measure: .headroom($0), takenAt: now)
            }
        }
    }

    private final class Process: Sendable {
        static let valueSize = 64 << 10
        let limit: Limit
        let index: Int
        let manager: PressureManager
        let cache: KeyedCache<Int, [UInt8]>
        let decisions = Shared<[PressureDecision]>([])

        init(_ limit: Limit, index: Int, share: MemoryShare = MemoryShare(), cost: Duration = .microseconds(200)) throws
        {
            self.limit = limit
            self.index = index
            limit.held.withLock { $0.append(0) }
            let (board, clock, decisions) = (limit.board, limit.clock, decisions)
            // Samples know what is there now, as the kernel does.
            let box = Shared<@Sendable () -> Void>({})
            let source = LimitSource(limit) { box.value() }
            manager = try makeManager(fileSystem: InMemoryFileSystem()) { configuration in
                configuration.clock = clock
                configuration.isSequential = true
                configuration.share = share
                configuration.boards = { (_: String) throws(BoardFile.Refusal) in try board.join() }
                configuration.sources = [PressureSource(name: "limit") { () throws(PressureError) in source }]
                configuration.observer.decided = { decision in decisions.change { $0.append(decision) } }
            }
            // Dropped, so that what a load costs is what a return costs.
            let options = CacheOptions(supportedDispositions: .drop)
            cache = try manager.root.keyedCache("values", options: options) { key in
                clock.advance(by: cost)
                return [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: Self.valueSize)
            }
            let books = manager.context.books
            box.set { limit.held.withLock { $0[index] = books.reading.resident } }
            look()
        }

        var held: Int { manager.context.books.reading.resident }
        func look() { _ = manager.drive() }
        func read(_ key: Int) throws {
            try cache.withValue(for: key) { #expect($0.first == UInt8(truncatingIfNeeded: key)) }
            limit.held.withLock { $0[index] = held }
        }
        func end() { limit.held.withLock { $0[index] = 0 } }
    }

    private func key(_ random: inout SeededGenerator, of count: Int) -> Int {
        let place = Double.random(in: 0..<1, using: &random)
        return Int(place * place * place * Double(count))
    }

    /// Each in turn reads so often; whoever is notified looks.
    private func play(
        _ processes: [Process],
        rounds: Int,
        keys: Int,
        random: inout SeededGenerator,
        weights: [Int]? = nil,
        each: () -> Void = {}
    ) throws {
        var notifications = processes[0].limit.board.notifications
        for round in 0..<rounds {
            for (index, process) in processes.enumerated() {
                for _ in 0..<(weights?[index] ?? 1) { try process.read(key(&random, of: keys)) }
                if round % 20 == index { process.look() }
                let heard = process.limit.board.notifications
                if heard != notifications {
                    notifications = heard
                    for process in processes { process.look() }
                }
            }
            each()
        }
    }

    @Test(arguments: [2, 4]) func aFullLimitIsSharedAndWarnsNobody(count: Int) throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<count).map { try Process(limit, index: $0) }
        var random = SeededGenerator(seed: 1)
        try play(processes, rounds: 12_000 / count, keys: 4_000, random: &random)
        limit.clock.advance(by: .seconds(120))
        var (sum, samples, least, most) = (0.0, 0.0, 1.0, 0.0)
        try play(processes, rounds: 5_000 / count, keys: 4_000, random: &random) {
            sum += limit.use
            samples += 1
            least = min(least, limit.use)
            most = max(most, limit.use)
        }
        #expect(sum / samples >= 0.92)
        #expect(least >= 0.85)
        #expect(most < 1)
        for process in processes {
            #expect(process.decisions.value.isEmpty, "nobody is warned of what caches have taken")
            let part = Double(process.held) / Double(processes.reduce(0) { $0 + $1.held })
            #expect(abs(part - 1 / Double(count)) < 0.5 / Double(count), "\(part) of the room")
        }
    }

    /// Who was alone takes what is free for its own until it looks: so who comes says so, and learns what is on its way.
    @Test func whoComesIsHeardAndLearnsWhatIsUnderWay() throws {
        let limit = Limit(mebibytes: 128)
        let first = try Process(limit, index: 0)
        first.look()
        #expect(limit.board.notifications == 0, "nobody is there to be told")
        let admission = first.manager.context.admission
        let pass = admission.admit(5 << 20)
        #expect(limit.board.slots.map(\.underWay) == [0])
        let second = try Process(limit, index: 1)
        #expect(limit.board.notifications == 1)
        // What the second one takes itself is news; in a file the notification would be.
        limit.others.withLock { $0 += 2 << 20 }
        first.look()
        #expect(limit.board.slots.map(\.underWay) == [5 << 20, 0])
        admission.end(pass)
        second.look()
        #expect(limit.board.notifications == 1)
    }

    /// Whoever sleeps beside others asks nothing of what they share, and still learns what changes.
    @Test func whileNothingChangesNobodyLooks() throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<3).map { try Process(limit, index: $0) }
        var random = SeededGenerator(seed: 3)
        try play(processes, rounds: 300, keys: 400, random: &random)
        for process in processes { process.look() }
        for process in processes { process.look() }
        let reads = limit.board.reads
        for _ in 0..<100 {
            limit.clock.advance(by: .seconds(1))
            for process in processes { process.look() }
        }
        #expect(limit.board.reads == reads)
        // One of them takes 8 MiB more: the others see less available, and look who has it.
        let before = processes[1].manager.snapshot().neighbours
        for key in 400..<528 { try processes[0].read(key) }
        processes[1].look()
        #expect(limit.board.reads > reads)
        let after = processes[1].manager.snapshot().neighbours
        #expect(after != before)
    }

    /// Another program takes a quarter of the limit at once: what all free together is what is needed, once.
    @Test(arguments: [2, 4, 8]) func aShortageIsFreedOnce(count: Int) throws {
        let limit = Limit(mebibytes: 256)
        let processes = try (0..<count).map { try Process(limit, index: $0) }
        var random = SeededGenerator(seed: 2)
        try play(processes, rounds: 16_000 / count, keys: 6_000, random: &random)
        limit.clock.advance(by: .seconds(120))
        for _ in 0..<3 { for process in processes { process.look() } }
        let before = processes.reduce(0) { $0 + $1.held }
        let members = zip(processes, limit.board.slots).map { process, slot in
            ShortageShares.Member(held: process.held, free: slot.free, claim: slot.claim, floor: slot.floor)
        }
        let marks = processes[0].manager.monitor.admissionRoom!
        let left = marks.bytes
        // In steps, so that nobody is killed.
        let taken = 64 << 20
        for _ in 0..<32 {
            limit.others.withLock { $0 += taken / 32 }
            limit.clock.advance(by: .milliseconds(10))
            for process in processes { process.look() }
        }
        for _ in 0..<3 { for process in processes { process.look() } }
        let freed = before - processes.reduce(0) { $0 + $1.held }
        let room = processes[0].manager.monitor.admissionRoom!
        // What is needed: what was taken, and what the marks want since others take.
        let need = taken - left + room.high
        #expect(freed > taken / 2)
        #expect(Double(freed) / Double(need) < 1.1, "\(freed >> 20) of \(need >> 20) MiB")
        // Each frees what the division asks of it, to within some values. The claims of those who are alike are alike, and stay
        // where nobody reads.
        let shares = ShortageShares(of: freed, among: members.span)
        for (process, member) in zip(processes, members) {
            #expect(abs(process.held - shares.budget(member)) < 1 << 20)
            #expect(abs(member.claim - 1) < 0.35)
            let part = Double(process.held) / Double(before - freed)
            #expect(abs(part - 1 / Double(count)) < 0.35 / Double(count))
        }
    }

    /// Readers who wait more for a byte get more of the room, and who hardly reads lets go.
    @Test func whoIsBusyGetsTheRoom() throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<4).map { try Process(limit, index: $0) }
        var random = SeededGenerator(seed: 3)
        try play(processes, rounds: 2_500, keys: 4_000, random: &random)
        try play(processes, rounds: 12_000, keys: 4_000, random: &random, weights: [20, 1, 1, 1])
        let parts = processes.map { Double($0.held) / Double(processes.reduce(0) { $0 + $1.held }) }
        #expect(parts[0] > 0.4, "\(parts)")
        #expect(parts.min()! > 0.02, "nobody starves: \(parts)")
    }

    @Test func whoseLoadsAreDearGetsMore() throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<2).map {
            try Process(limit, index: $0, cost: $0 == 0 ? .milliseconds(4) : .microseconds(400))
        }
        var random = SeededGenerator(seed: 4)
        try play(processes, rounds: 15_000, keys: 4_000, random: &random)
        let (dear, cheap) = (processes[0].held, processes[1].held)
        #expect(dear > cheap * 5 / 4, "\(dear >> 20) and \(cheap >> 20) MiB")
    }

    @Test func aFloorIsLeft() throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<2).map {
            try Process(limit, index: $0, share: MemoryShare(floor: $0 == 1 ? .mebibytes(40) : .zero))
        }
        var random = SeededGenerator(seed: 5)
        try play(processes, rounds: 2_500, keys: 4_000, random: &random)
        try play(processes, rounds: 15_000, keys: 4_000, random: &random, weights: [1, 0])
        #expect(processes[1].held >= 39 << 20, "\(processes[1].held >> 20) MiB")
    }

    /// One is killed: its slot is free, its memory is there for the others, and they take it.
    @Test func theRoomOfOneWhoWasKilledIsTheOthers() throws {
        let limit = Limit(mebibytes: 128)
        let processes = try (0..<3).map { try Process(limit, index: $0) }
        var random = SeededGenerator(seed: 6)
        try play(processes, rounds: 4_000, keys: 4_000, random: &random)
        let victim = limit.board.slots.count
        #expect(victim == 3)
        limit.board.kill(2)
        processes[2].end()
        try play(Array(processes[..<2]), rounds: 6_000, keys: 4_000, random: &random)
        #expect(limit.use > 0.88)
        for process in processes[..<2] { #expect(process.decisions.value.isEmpty) }
    }

    @Test func whoIsOffMeetsNobody() throws {
        let limit = Limit(mebibytes: 64)
        let process = try Process(limit, index: 0, share: .off)
        #expect(process.manager.monitor.neighbours == nil)
        #expect(limit.board.slots.isEmpty)
    }
}
#endif
