import CLinuxShims
import PressureSignals
public import PressureSystem
import Synchronization

/// What admission has done so far.
public struct AdmissionCounts: Hashable, Sendable {
    /// Loads and restores that were let in at once.
    public var admitted = 0
    /// Those that first had memory freed for them.
    public var reclaimed = 0
    /// Those that were let in although too little was freed, or it took too long. They had waited as long as they may.
    public var overdrawn = 0
    /// How many batches the background reclaim has made.
    public var batches = 0
    /// What they have freed.
    public var freedInBackground = ByteCount.zero
    /// How often a value could not be written outside a reclaim: in a batch, or by a cache over its own limit.
    public var notSpilled = 0
    /// The time that readers waited for memory, in all.
    public var waited = Duration.zero

    /// Nothing yet.
    public init() {}
}

/// Lets loads and restores in while there is room for them, and has memory freed first when there is not.
///
/// The library itself is the one who loads: at 500 MB/s a 256 MiB limit is full in 150 ms from a fifth left, sooner than
/// a signal and a reclaim. So before a value is made, its expected size is held against the newest headroom less what was
/// brought in since. Below the low watermark the background reclaim begins, which nobody waits for; what would cross the
/// least one waits until that much was given back. A load that has waited for ``patience`` goes on as far as the overdraft
/// reaches, which is counted in bytes; behind that it waits for as long as memory comes free at all. Where nothing comes
/// free, waiting is in vain, and it goes.
///
/// Safe from any thread. Values in memory are read without coming here.
package final class Admission: Sendable {
    /// A load that was let in; to be handed back when it has ended, whatever came of it.
    package struct Pass: Sendable {
        fileprivate(set) var bytes: Int
        /// Whether no value had come by which its size could be told.
        fileprivate(set) var isAssumed = false

        /// A pass for so many bytes.
        init(bytes: Int) { self.bytes = bytes }
    }

    /// Where room and reclaim come from.
    package struct Supply: Sendable {
        /// The newest room; `nil` while nobody watches.
        package var room: @Sendable () -> AdmissionRoom?
        /// Has a new sample taken and returns what the newest shows. Waits some milliseconds at most.
        package var refresh: @Sendable () -> AdmissionRoom?
        /// Asks for a sample, after which the books wake those who wait; does not wait for it. Whether one comes.
        package var ask: @Sendable () -> Bool
        /// Has so many bytes freed, and calls back once, on any thread, with what came of it. The books wake those who wait
        /// once all who asked are answered: each answer by itself would wake all the others.
        package var reclaim: @Sendable (_ bytes: ByteCount, _ done: @escaping @Sendable (ByteCount) -> Void) -> Void
        /// Has the background reclaim look whether there is something to free, at once if it is urgent. Does not wait for it,
        /// unless one thing is done at a time.
        package var wakeBackground: @Sendable (_ isUrgent: Bool) -> Void
        /// Told of each load that nobody watches, with the bytes that the caches hold.
        package var unwatched: @Sendable (_ resident: Int) -> Void
        /// Who shares the limit with this process; `nil` for nobody.
        package var neighbours: Neighbours?

        /// Creates a supply.
        package init(
            room: @escaping @Sendable () -> AdmissionRoom?,
            refresh: @escaping @Sendable () -> AdmissionRoom?,
            ask: @escaping @Sendable () -> Bool = { false },
            reclaim: @escaping @Sendable (_ bytes: ByteCount, _ done: @escaping @Sendable (ByteCount) -> Void) -> Void,
            wakeBackground: @escaping @Sendable (_ isUrgent: Bool) -> Void = { _ in },
            unwatched: @escaping @Sendable (_ resident: Int) -> Void = { _ in },
            neighbours: Neighbours? = nil
        ) {
            self.room = room
            self.refresh = refresh
            self.ask = ask
            self.reclaim = reclaim
            self.wakeBackground = wakeBackground
            self.unwatched = unwatched
            self.neighbours = neighbours
        }
    }

    /// How long no reclaim is asked for after a fruitless one.
    static let pause = Duration.milliseconds(100)

    /// How long a reader waits before it may overdraw, and how long memory may stand still before it goes anyway.
    package let patience: Duration
    /// Whether a reader waits for the end of a reclaim and for nothing else, so that a run can be repeated.
    let isSequential: Bool
    /// The limit on the process's memory when this was made, in bytes: what is gone by before the first sample.
    let firstLimit: Int?
    let clock: any MonotonicClock
    let books: MemoryBooks
    let state = AdmissionState()
    private let connection = AtomicReference<Connection>()
    /// Tasks that wait for memory.
    let sleepers = AdmissionSleepers()
    /// Bytes that may be brought in without a look at anything: what ``AdmissionLedger/credit(in:_:)`` last gave, less
    /// what was let in since. A new sample takes back what is left of it.
    let credit = Atomic<Int>(0)
    private let admitted = Atomic<Int>(0)
    /// What of that which is under way others who share the limit have been told of.
    let told = Atomic<Int>(0)

    /// Creates an admission that lets everything in until it is connected.
    ///
    /// - Parameters:
    ///   - books: What the library brings and gives back.
    ///   - firstLimit: Of the process's memory, in bytes, if there is one: before the first sample no more than a quarter of it is
    ///     let in at a time.
    ///   - patience: The default is a second: a reclaim of what one load needs takes far less, and a reader that would wait
    ///     for longer is better served with memory overdrawn, as long as that is bounded.
    package init(
        clock: any MonotonicClock,
        books: MemoryBooks = MemoryBooks(),
        patience: Duration = .seconds(1),
        isSequential: Bool = false,
        firstLimit: Int? = nil
    ) {
        self.clock = clock
        self.books = books
        self.patience = patience
        self.isSequential = isSequential
        self.firstLimit = isSequential ? nil : firstLimit
    }

    /// Says where room and reclaim come from; `nil` for nowhere.
    package func connect(_ supply: Supply?) {
        connection.store(supply.map(Connection.init))
        credit.store(0, ordering: .relaxed)
    }

    /// What was done so far.
    package var counts: AdmissionCounts {
        var counts = state.counts
        counts.admitted += admitted.load(ordering: .relaxed)
        return counts
    }

    /// So many values could not be written outside a reclaim.
    package func note(notSpilled count: Int) { state.count(notSpilled: count) }

    /// The calling thread is one that a reclaim itself needs to go on: what it loads never waits for a reclaim. For the
    /// reclaim thread and those on which it has hooks called. A mark of the thread, not of the manager: two managers' reclaims
    /// that wait for each other would free nothing.
    package static func exemptThisThread() { pk_exempt_thread() }

    /// Whether the calling thread is one of those.
    static var isThisThreadExempt: Bool { pk_is_exempt_thread() }

    /// Lets a load or restore of about so many bytes in. Blocks when it would cross the least watermark and memory has to be
    /// freed first: for ``patience``, and beyond it while the overdraft is used up and memory does come free.
    ///
    /// - Parameters:
    ///   - expected: How many it will take; 0 when that is unknown, and then it is taken for as large as others.
    ///   - isLoaded: Whether an app's loader makes it. Then as much again is taken to be in use until it has ended: what it
    ///     is made of is in memory too. Of 64 loaders at a time that is a fifth of a limit of 128 MiB.
    ///   - isNested: Whether another load waits for it, which will not end before it has gone on.
    /// - Returns: What ``end(_:)`` is called with.
    package func admit(_ expected: Int, isLoaded: Bool = false, isNested: Bool = false) -> Pass {
        let (pass, supply) = begin(expected, isLoaded: isLoaded)
        guard let supply, !isNested || supply.room() != nil else { return pass }
        if case .reclaim(let shortage) = verdict(on: pass.bytes, supply) {
            return wait(for: pass, shortage, supply, isNested: isNested)
        }
        letIn(supply)
        return pass
    }

    /// Counts a load of about so many bytes as under way. With a supply, that one is to be asked; it has been let in
    /// otherwise.
    func begin(_ expected: Int, isLoaded: Bool) -> (Pass, Supply?) {
        let known = expected > 0 ? expected : books.averageArrival
        let arriving = known > 0 || !isLoaded ? known : assumedSize
        guard arriving > 0 else { return (Pass(bytes: 0), nil) }
        var pass = Pass(bytes: isLoaded ? Self.whileLoading(arriving) : arriving)
        pass.isAssumed = known <= 0
        state.begin(pass.bytes)
        if credit.wrappingSubtract(arriving, ordering: .relaxed).newValue >= 0 {
            admitted.wrappingAdd(1, ordering: .relaxed)
            return (pass, nil)
        }
        return (pass, supply)
    }

    /// What a load of a value takes until it has ended: as much again for what it is made of.
    private static func whileLoading(_ bytes: Int) -> Int { 2 * bytes }

    /// Counts a load that waits for what it will take, once that is known: for as much as it was assumed to take there may
    /// never be room.
    func correct(_ pass: inout Pass) {
        guard pass.isAssumed, case let average = books.averageArrival, average > 0 else { return }
        pass.isAssumed = false
        // Only loaders make what nobody knows the size of.
        let change = Self.whileLoading(average) - pass.bytes
        pass.bytes += change
        // In an order in which it is never taken for less than it is.
        if change > 0 { state.begin(change) }
        state.beginWaiting(change)
        if change < 0 { state.begin(change) }
    }

    /// How large the first values are taken to be, before any has come: a sixteenth of the limit. Of many readers who begin at
    /// once with large values a small limit would not survive the first.
    private var assumedSize: Int {
        guard let room = supply?.room() else { return firstLimit.map { min($0 / 16, Self.mostAssumed) } ?? 0 }
        return room.stride < .max ? min(room.stride / 4 * 5, Self.mostAssumed) : 0
    }

    private static let mostAssumed = 16 << 20

    /// A load that was asked about goes on at once.
    func letIn(_ supply: Supply) {
        admitted.wrappingAdd(1, ordering: .relaxed)
        keepWatermarks(supply)
        guard let room = supply.room() else { return }
        let reading = reading(in: room, supply)
        let sharers = supply.neighbours?.sharers(at: room.place) ?? 1
        credit.store(state.ledger.credit(in: room, reading) / sharers, ordering: .relaxed)
    }

    /// The load has ended: its value is in memory, and in the books, or there is none.
    package func end(_ pass: Pass) {
        guard pass.bytes > 0 else { return }
        let left = state.end(pass.bytes)
        let told = told.load(ordering: .relaxed)
        if told > 0, left <= told / 2 { tell() }
        // Once the first value has come, those who wait need much less than they were taken to.
        if pass.isAssumed { books.wake() } else { books.ease(pass.bytes) }
    }

    /// A value that the app made itself has been put into a cache: it is in memory and in the books already, but the next
    /// one is not.
    ///
    /// What does not fit is reclaimed. The calling thread waits for that as ``admit(_:isLoaded:)`` does, which slows down whoever
    /// makes values faster than they can be written. In a task too: one that set values of 1 KiB in a loop, which nobody could
    /// make again, was killed below 96 MiB (measured).
    ///
    /// - Parameters:
    ///   - bytes: What the value takes.
    ///   - isNested: Whether a loader sets it, which will not end before that has gone on.
    package func arrived(_ bytes: Int, isNested: @autoclosure () -> Bool = false) {
        guard let supply = supplyFor(arrival: bytes) else { return }
        guard case .reclaim(let shortage) = verdict(on: bytes, supply) else { return keepWatermarks(supply) }
        _ = wait(for: Pass(bytes: 0), shortage, supply, isNested: isNested())
    }

    /// Whom to ask about a value that is in memory already; `nil` when there is no need to.
    func supplyFor(arrival bytes: Int) -> Supply? {
        guard bytes > 0, credit.wrappingSubtract(bytes, ordering: .relaxed).newValue < 0 else { return nil }
        return supply
    }

    func verdict(on bytes: Int, _ supply: Supply) -> AdmissionLedger.Verdict {
        let first = judge(bytes, supply, at: clock.now())
        guard first == .look else { return first }
        // What was refreshed is as fresh as can be.
        let room = supply.refresh()
        return judge(bytes, room, supply, at: room?.takenAt ?? clock.now())
    }

    func judge(_ bytes: Int, _ supply: Supply, at now: MonotonicInstant) -> AdmissionLedger.Verdict {
        judge(bytes, supply.room(), supply, at: now)
    }

    private func judge(
        _ bytes: Int,
        _ room: AdmissionRoom?,
        _ supply: Supply,
        at now: MonotonicInstant
    ) -> AdmissionLedger.Verdict {
        guard let room else {
            supply.unwatched(books.reading.resident)
            guard let firstLimit else { return .go }
            let mayGo = state.ledger.mayGoUnseen(bytes, below: firstLimit, isWaiting: false)
            return mayGo ? .go : .reclaim(ByteCount(bytes: bytes))
        }
        tell(in: room, supply)
        let books = reading(in: room, supply)
        return state.ledger.verdict(on: bytes, room: room, books: books, at: now)
    }
}

extension Admission {
    /// Whether a reclaim may be asked for.
    func mayAsk(at now: MonotonicInstant) -> Bool { !state.fruitlessUntil.isAhead(of: now) }

    /// Where room and reclaim come from now; `nil` for nowhere.
    var supply: Supply? { connection.object?.supply }

    /// A supply that is read with every load.
    final class Connection: Sendable {
        let supply: Supply
        init(_ supply: Supply) { self.supply = supply }
    }
}
