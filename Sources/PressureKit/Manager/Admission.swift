import CLinuxShims

/// What admission has done so far.
public struct AdmissionCounts: Hashable, Sendable {
    /// Loads and restores that were let in at once.
    public var admitted = 0
    /// Those that first had memory freed for them.
    public var relieved = 0
    /// Those that were let in although too little was freed, or it took too long. They had waited as long as they may.
    public var overdrawn = 0
    /// The time that readers waited for that, in all.
    public var waited = Duration.zero

    /// Nothing yet.
    public init() {}
}

/// Lets loads and restores in while there is room for them, and has memory freed first when there is not.
///
/// The library itself is the one who loads: at 500 MB/s a 256 MiB limit is full in 150 ms from a fifth left, sooner than
/// a signal and a relief. So before a value is made, its expected size is held against the newest headroom less what was
/// let in since; what would cross into critical waits for a relief of that many bytes. Nobody waits for longer than
/// ``patience``, and then the load goes on: admission makes room, it does not forbid.
///
/// Safe from any thread. Values in memory are read without coming here.
package final class Admission: Sendable {
    /// A load that was let in; to be handed back when it has ended, whatever came of it.
    package struct Pass: Sendable {
        fileprivate let bytes: Int
    }

    /// Where room and relief come from.
    package struct Supply: Sendable {
        /// The newest room; `nil` while nobody watches.
        package var room: @Sendable () -> AdmissionRoom?
        /// Takes a new sample and returns what it shows. Does not wait.
        package var refresh: @Sendable () -> AdmissionRoom?
        /// Has so many bytes freed, and calls back once, on any thread, with what came of it.
        package var relieve: @Sendable (_ bytes: ByteCount, _ done: @escaping @Sendable (ByteCount) -> Void) -> Void

        /// Creates a supply.
        package init(
            room: @escaping @Sendable () -> AdmissionRoom?,
            refresh: @escaping @Sendable () -> AdmissionRoom?,
            relieve: @escaping @Sendable (_ bytes: ByteCount, _ done: @escaping @Sendable (ByteCount) -> Void) -> Void
        ) {
            self.room = room
            self.refresh = refresh
            self.relieve = relieve
        }
    }

    private struct State {
        var ledger = AdmissionLedger()
        var counts = AdmissionCounts()
        /// After a relief that brought next to nothing, nobody waits for another one until then.
        var fruitlessUntil: MonotonicInstant?
        /// A relief was asked for that nobody waits for, and has not ended.
        var isAsked = false
    }

    /// After a fruitless relief nobody waits for this long, and ten times as long after one that took too long.
    private static let pause = Duration.milliseconds(100)

    /// The longest that a reader waits.
    package let patience: Duration
    private let clock: any MonotonicClock
    private let supply = Lock<Supply?>(nil)
    private let state = Lock(State())

    /// Creates an admission that lets everything in until it is connected.
    ///
    /// - Parameter patience: The longest that a reader waits for a relief. The default is a second: a relief of what one
    ///   load needs takes far less, and a reader that would wait for longer is better served with memory overdrawn.
    package init(clock: any MonotonicClock, patience: Duration = .seconds(1)) {
        self.clock = clock
        self.patience = patience
    }

    /// Says where room and relief come from; `nil` for nowhere.
    package func connect(_ supply: Supply?) { self.supply.withLock { $0 = supply } }

    /// What was done so far.
    package var counts: AdmissionCounts { state.withLock { $0.counts } }

    /// The calling thread is one that a relief itself needs to go on: what it loads never waits for a relief. For the
    /// relief thread and those on which it has hooks called.
    package static func exemptThisThread() { pk_exempt_thread() }

    /// Whether the calling thread is one of those.
    static var isThisThreadExempt: Bool { pk_is_exempt_thread() }

    /// Lets a load or restore of about so many bytes in. Blocks, at most for ``patience``, when it would cross into
    /// critical and memory has to be freed first.
    ///
    /// - Parameter bytes: How many it will take; 0 when that is unknown, and then it is let in at once.
    /// - Returns: What ``end(_:)`` is called with.
    package func admit(_ bytes: Int) -> Pass {
        guard bytes > 0, let supply = supply.withLock({ $0 }) else { return Pass(bytes: 0) }
        state.withLock { $0.ledger.begin(bytes) }
        var verdict = judge(bytes, supply.room())
        if verdict == .look { verdict = judge(bytes, supply.refresh(), isLast: true) }
        guard case .relieve(let shortfall) = verdict else {
            state.withLock { $0.counts.admitted += 1 }
            return Pass(bytes: bytes)
        }
        relieve(shortfall, for: bytes, supply)
        return Pass(bytes: bytes)
    }

    /// The load has ended: its value is in memory, or there is none.
    package func end(_ pass: Pass) {
        guard pass.bytes > 0 else { return }
        let now = clock.now()
        state.withLock { $0.ledger.end(pass.bytes, at: now) }
    }

    private func judge(_ bytes: Int, _ room: AdmissionRoom?, isLast: Bool = false) -> AdmissionLedger.Verdict {
        // What was refreshed is as fresh as can be.
        let now = isLast ? room?.takenAt ?? clock.now() : clock.now()
        return state.withLock { $0.ledger.verdict(on: bytes, room: room, at: now) }
    }

    private func relieve(_ shortfall: ByteCount, for bytes: Int, _ supply: Supply) {
        let start = clock.now()
        let mayWait = state.withLock { $0.fruitlessUntil.map { $0 <= start } ?? true } && !pk_is_exempt_thread()
        var returned: ByteCount?
        if mayWait {
            let answer = ConditionLock<ByteCount?>(nil)
            supply.relieve(shortfall) { returned in answer.withLock { $0 = returned } }
            returned = answer.wait(atMost: patience) { $0 }
        }
        settle(returned, of: shortfall, for: bytes, hasTried: mayWait, since: start)
    }

    /// Counts a relief and what came of it.
    private func settle(
        _ returned: ByteCount?,
        of shortfall: ByteCount,
        for bytes: Int,
        hasTried: Bool,
        since start: MonotonicInstant
    ) {
        let end = clock.now()
        // One that frees half of what was wanted has been worth it; less than half of the load itself is nothing.
        let isEnough = returned.map { $0.bytes >= shortfall.bytes / 2 } ?? false
        let isFruitless = returned.map { $0.bytes < min(bytes, shortfall.bytes) / 2 } ?? true
        state.withLock { state in
            state.counts.waited += end - start
            if isEnough { state.counts.relieved += 1 } else { state.counts.overdrawn += 1 }
            guard hasTried else { return }
            state.ledger.noteRelief(at: end)
            state.fruitlessUntil = isFruitless ? end + Self.pause * (returned == nil ? 10 : 1) : nil
        }
    }

    /// A value that the app made itself has been put into a cache: it is in memory already, but the next one is not.
    ///
    /// What does not fit is relieved. Outside of tasks the calling thread waits for that as ``admit(_:)`` does, which
    /// slows down whoever makes values faster than they can be written; in a task nobody waits, because the thread is
    /// the cooperative pool's.
    ///
    /// - Parameter bytes: What the value takes.
    package func arrived(_ bytes: Int) {
        guard bytes > 0, let supply = supply.withLock({ $0 }) else { return }
        let now = clock.now()
        state.withLock { $0.ledger.begin(bytes) }
        defer { state.withLock { $0.ledger.end(bytes, at: now) } }
        var verdict = judge(bytes, supply.room())
        if verdict == .look { verdict = judge(bytes, supply.refresh(), isLast: true) }
        guard case .relieve(let shortfall) = verdict else { return }
        // The task is only looked for, and not kept.
        guard unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) else {
            return relieve(shortfall, for: bytes, supply)
        }
        let isFirst = state.withLock { state in
            defer { state.isAsked = true }
            return !state.isAsked && (state.fruitlessUntil.map { $0 <= now } ?? true)
        }
        guard isFirst else { return }
        supply.relieve(shortfall) { [weak self] returned in
            self?.state.withLock { $0.isAsked = false }
            self?.settle(returned, of: shortfall, for: bytes, hasTried: true, since: now)
        }
    }
}

extension Admission.Supply {
    /// What a manager's monitor sees, and what its relief thread frees.
    init(monitor: PressureMonitor, relief: ReliefThread) {
        self.init(
            room: { [weak monitor] in monitor?.admissionRoom },
            refresh: { [weak monitor] in monitor?.refreshedAdmissionRoom() },
            relieve: { [weak monitor, weak relief] bytes, done in
                guard let monitor, let relief else { return done(.zero) }
                let level = monitor.level
                let cause = PressureCause(
                    origin: .request,
                    source: "admission",
                    levelBefore: level,
                    levelAfter: level
                )
                relief.request(
                    ReliefRequest(
                        cause: cause,
                        amount: .bytes(bytes.bytes),
                        warns: false,
                        reply: { report in
                            // Of a few small values the system's own count is not exact; the next sample is.
                            done(max(.zero, report?.returned ?? .zero, report?.claimed ?? .zero))
                        }
                    )
                )
            }
        )
    }
}
