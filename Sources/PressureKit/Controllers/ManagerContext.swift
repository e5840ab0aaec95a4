import Logging
import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// What the tree of controllers and its caches need of their manager, without keeping the manager itself alive.
final class ManagerContext: Sendable {
    private struct WeakDelegate { weak var delegate: (any PressureManagerDelegate)? }

    let engine: ReclaimEngine
    let clock: any MonotonicClock
    let log: ManagerLog
    private let spillEvents = Lock(LogThrottle(pause: .seconds(1)))
    let events = EventHub()
    let scene: ManagerScene
    let listener: Listener
    /// What the caches bring into memory and give back.
    let books: MemoryBooks
    /// Asked before a value is loaded or restored.
    let admission: Admission
    /// Whether what appears is restored before it is asked for.
    let restoresAhead: Bool
    /// Whether one thing is done at a time; see ``PressureConfiguration/isSequential``.
    let isSequential: Bool
    /// How many values are restored at a time for one caller.
    var restores: Int { isSequential ? 1 : RestoreReport.concurrency }
    /// Counts for others; `nil` unless the app asks for metrics.
    let meter: (any ManagerMeter)?
    /// What loads and restores need of all this.
    let services: LoadServices
    /// Told of everything there and then.
    let observer: ManagerObserver
    /// How many reclaims there were.
    let reclaims = Atomic<Int>(0)
    /// Where one thing is done at a time: what would otherwise go on beside the caller.
    private let deferred = Lock<[@Sendable () -> Void]>([])
    private let ledger: FrameLedger
    private let managerDelegate = Lock(WeakDelegate())
    private let cleaningWorker = Lock<CleaningWorker?>(nil)
    private let shortageIsOver = Lock<Handler<MonotonicInstant, Bool>?>(nil)
    private let newestCause = Lock<PressureCause?>(nil)
    private let reportHandler = Lock<Handler<EvictionReport, Void>?>(nil)

    /// Told of every report before anybody else: how the monitor learns what came back.
    var onReport: (@Sendable (EvictionReport) -> Void)? {
        get { reportHandler.withLock { $0 }?.call }
        set { reportHandler.withLock { $0 = newValue.map(Handler.init) } }
    }

    /// Whether a shortage that a reclaim answers is over, by a sample that was taken since it began. How the monitor tells.
    var isOver: (@Sendable (_ since: MonotonicInstant) -> Bool)? {
        get { shortageIsOver.withLock { $0 }?.call }
        set { shortageIsOver.withLock { $0 = newValue.map(Handler.init) } }
    }

    /// Who works ahead; `nil` when nothing is to be copied ahead. Set once, by the manager, before anybody asks.
    var cleaner: CleaningWorker? {
        get { cleaningWorker.withLock { $0 } }
        set { cleaningWorker.withLock { $0 = newValue } }
    }

    /// Why the level changed or memory was wanted last; `nil` before that. Does not block.
    var lastCause: PressureCause? {
        get { newestCause.withLock { $0 } }
        set { newestCause.withLock { $0 = newValue } }
    }

    /// - Throws: ``PressureError`` with `threadUnavailable`.
    init(
        engine: ReclaimEngine,
        clock: any MonotonicClock,
        logger: Logger,
        dispositions: Disposition = .all,
        restoresAhead: Bool = true,
        isSequential: Bool = false,
        meter: (any ManagerMeter)? = nil,
        observer: ManagerObserver = ManagerObserver()
    ) throws(PressureError) {
        scene = ManagerScene(dispositions: dispositions)
        listener = try Listener(clock: clock, waitsForEver: isSequential)
        // Where one thing is done at a time a reader waits until the reclaim has ended, however long that takes.
        let books = MemoryBooks()
        self.books = books
        admission = Admission(
            clock: clock,
            books: books,
            patience: isSequential ? .seconds(86_400) : .seconds(1),
            isSequential: isSequential,
            firstLimit: engine.firstLimit?.bytes
        )
        self.restoresAhead = restoresAhead
        self.isSequential = isSequential
        self.observer = observer
        self.meter = meter
        services = LoadServices(admission: admission, clock: clock, meter: meter)
        self.engine = engine
        self.clock = clock
        log = ManagerLog(logger, clock: clock)
        ledger = FrameLedger(file: engine.file, memory: engine.memory, books: books)
        engine.onFailure = { [weak self] in self?.tell($0) }
    }

    var delegate: (any PressureManagerDelegate)? {
        get { managerDelegate.withLock { $0.delegate } }
        set { managerDelegate.withLock { $0.delegate = newValue } }
    }

    /// What its caches could give back at once, in bytes.
    var reclaimableBytes: Int {
        let resident = books.reading.resident
        return engine.reclaimability.withLock { $0.bytes(of: resident) }
    }

    /// What of them could go too, but would have to be written for longer than a second.
    var slowlyReclaimableBytes: Int {
        let resident = books.reading.resident
        return engine.reclaimability.withLock { $0.slowBytes(of: resident) }
    }

    /// What a reclaim takes itself, in bytes, while values are written.
    var writingBytes: Int { engine.reclaimability.withLock { $0.needsWriting } ? engine.followed.writingBytes : 0 }

    /// Has something done later, by ``runDeferred()``.
    func putOff(_ work: @escaping @Sendable () -> Void) { deferred.withLock { $0.append(work) } }

    /// Does what was put off, and what is put off meanwhile.
    func runDeferred() {
        while true {
            let works = deferred.withLock { works in
                defer { works = [] }
                return works
            }
            guard !works.isEmpty else { return }
            for work in works { work() }
        }
    }

    /// Makes room for a cache in plans and in the spill file, and has it count for the budgets above it.
    func adopt(_ entry: CacheEntry) {
        entry.join(ledger)
        if entry.host?.isBudgeted ?? false { entry.traits.isBudgeted.store(true, ordering: .relaxed) }
        reserve()
    }

    /// Makes room in plans for what caches have come to hold.
    func reserve() {
        engine.reserve(values: ledger.values, caches: ledger.caches)
    }

    /// Tells of what failed outside reclaims. Hooks are called as those of a value that leaves.
    private func tell(_ failure: ReclaimEngine.Failure) {
        switch failure {
        case .late(let error):
            log.failedLate(error)
            events.deliver(.failure(error))
        case .notSpilled(let failures, let count):
            guard let first = failures.first?.error as? PressureError else { return }
            log.notSpilled(first, count: count)
            admission.note(notSpilled: count)
            guard spillEvents.withLock({ $0.pass(at: clock.now()) }) != nil else { return }
            events.deliver(.failure(first))
            let climb = { @Sendable in for failure in failures { failure.resource.climb(.spill, failure.error) } }
            if listener.isOnReclaimThread { listener.post(.call(climb)) } else { climb() }
        }
    }

    /// Tells of a failure that reached no reader, or one reader only.
    func note(_ failure: PressureError) {
        log.lost(failure)
        events.deliver(.failure(failure))
    }
}
