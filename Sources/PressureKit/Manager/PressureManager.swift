public import Logging
import PressureSignals
import PressureSystem
import Synchronization

/// Watches memory, warns controllers, and evicts what their caches hold: the app-delegate role, one for a process.
///
/// ```swift
/// let manager = try PressureManager()
/// let gallery = PressureController("gallery")
/// try manager.root.addChild(gallery)
/// let thumbnails = try gallery.cache("thumbnails") { try renderThumbnails() }
/// try await manager.run()            // watches until cancelled
/// ```
///
/// Creating a manager opens the spill file, reserves all memory that a reclaim will need, and starts the threads that
/// will carry it out; they sleep. Nothing is watched until ``run()`` is called, but ``reclaim(_:)``,
/// ``simulateMemoryWarning(_:freeing:)`` and the background methods work from the start. If nobody has called it when the
/// caches hold a quarter of the limit, or of the machine's memory, the manager watches all the same, and the log says so.
///
/// It logs to the logger of the task that creates it, or the one that is passed. Routine is `debug`: `memory pressure fell`,
/// `reclaim finished`. An operator should know, `notice`, that `memory pressure rose`, or of a `control command`; and has
/// something to look after, `warning`, if `nobody runs the manager`, `values could not be spilled`, `a spilled copy could not be used`, `a hook took
/// too long`, `loaders hold all threads`, or the `control socket` is `unavailable`. A warning that lasts is one a minute. Metadata begin with
/// `pressurekit.`, such as `pressurekit.cause` and `pressurekit.claimed_bytes`; values, and keys of keyed caches, are
/// never logged.
///
/// Releasing the manager, or ``shutdown()``, ends its threads. Values that are spilled can still be restored as long as
/// their caches live; the spill file has no name, so nothing is left behind however the process ends.
public final class PressureManager: Sendable {
    /// The root of the tree of controllers. It has no identifier and may have caches of its own.
    public let root: PressureController

    let context: ManagerContext
    let monitor: PressureMonitor
    let reclaim: ReclaimThread
    /// Takes commands from outside while the manager runs.
    let control: ControlServer
    let controlSocket: ControlSocket
    let environment: [String: String]
    private let warningShare: Double
    /// What was visible and in memory when the app went to the background.
    let visibleBefore = Lock<[WeakEntry]>([])
    /// What is known of saving and restoring state.
    let restoration: RestorationState
    private let isShutDown = Atomic<Bool>(false)
    private let attendance: Attendance

    /// Creates a manager. Blocks briefly on the file system.
    ///
    /// - Throws: ``PressureError`` with `spillDirectoryUnusable` or `spillDirectoryInMemory`, which say what to set
    ///   instead; `signalUnavailable`; `invalidConfiguration`; `threadUnavailable`; `spillFailed` when there is no
    ///   memory for the scratch.
    public init(
        configuration: PressureConfiguration = .init(),
        logger: Logger = .current
    ) throws(PressureError) {
        try configuration.validate()
        let engine = try ReclaimEngine(configuration.engine)
        try engine.rehearse()
        #if Metrics
        let meter = configuration.metrics.map { MetricsReporter($0, engine: engine, clock: configuration.clock) }
        #else
        let meter: (any ManagerMeter)? = nil
        #endif
        let context = try ManagerContext(
            engine: engine,
            clock: configuration.clock,
            logger: logger,
            dispositions: configuration.supportedDispositions,
            restoresAhead: configuration.restoresAhead,
            isSequential: configuration.isSequential,
            meter: meter,
            observer: configuration.observer
        )
        let root = PressureController(rootOf: context)
        let reclaim = try ReclaimThread(context: context, root: root)
        let share = configuration.warningShare
        let control = ControlServer(remark: { [weak context] in context?.log.remarked($0) })
        let process = ProcessMemory(
            resident: { [weak engine] in engine?.residentBytes() ?? .max },
            reclaimable: { [weak context] in context?.reclaimableBytes ?? 0 },
            dirty: { [weak context] in context?.slowlyReclaimableBytes ?? 0 },
            writing: { [weak context] in context?.writingBytes ?? 0 },
            heap: { [heap = engine.heap, books = context.books] in heap.reading(beside: books.reading) }
        )
        let monitor = try PressureMonitor(
            sources: try configuration.sources.open(in: configuration.signalContext(engine: engine)),
            thresholds: configuration.thresholds,
            clock: configuration.clock,
            guests: [control],
            books: context.books,
            process: process,
            neighbours: configuration.neighbours(process, books: context.books),
            sampled: { [weak context] in
                guard let context else { return }
                let isShared = context.admission.isShared
                let wantsVisit = context.engine.heap.wantsVisit(beside: context.books.reading, isShared: isShared)
                context.admission.keepWatermarks(wantsVisit: wantsVisit)
                context.cleaner?.wake()
                context.meter?.sampled()
            }
        ) { [weak context, weak reclaim] decision in
            guard let context else { return }
            context.lastCause = decision.cause
            context.observer.decided?(decision)
            context.listener.hurry(for: decision.cause.levelAfter)
            reclaim?.request(ReclaimRequest(decision, share: share, context: context))
            if context.isSequential { reclaim?.waitUntilIdle() }
        }
        context.isOver = { [weak monitor] in monitor?.isOver(since: $0) ?? false }
        context.onReport = { [weak monitor] report in monitor?.note(report) }
        let attendance = Attendance(below: engine.firstLimit, isAwaited: !configuration.isSequential)
        context.admission.connect(
            Admission.Supply(
                monitor: monitor,
                reclaim: reclaim,
                isSequential: configuration.isSequential,
                unwatched: attendance.look(context, monitor)
            )
        )
        let probe = BusyProbe()
        let read = configuration.busyReading ?? probe.read
        context.cleaner =
            configuration.copiesAhead
            ? CleaningWorker(
                engine: engine,
                root: root,
                rate: configuration.copyAheadRate,
                isUnpressured: { [weak monitor, weak reclaim] in
                    guard let monitor, let reclaim else { return false }
                    return monitor.level == .normal && !reclaim.isActive
                },
                read: read
            ) : nil
        #if Metrics
        meter?.connect(root: root, monitor: monitor)
        #endif
        restoration = RestorationState(configuration.fileSystem)
        self.root = root
        self.context = context
        self.reclaim = reclaim
        self.monitor = monitor
        self.attendance = attendance
        self.control = control
        controlSocket = configuration.control
        environment =
            configuration.environment
            ?? ProcessEnvironment.variables(ControlSocket.variable, "XDG_RUNTIME_DIR")
        warningShare = share
        control.connect { [weak self] command, peer, answer in
            guard let self else { return answer(.refused(.shutDown)) }
            self.carryOut(command, for: peer, answer: answer)
        }
    }

    deinit {
        attendance.close()
        monitor.stop()
        context.cleaner?.stop()
        reclaim.stop()
        context.events.finish()
    }

    /// Who is told first. Not retained.
    public var delegate: (any PressureManagerDelegate)? {
        get { context.delegate }
        set { context.delegate = newValue }
    }

    /// What happens from now on; each access is a new subscription. See ``PressureEvents``.
    public var events: PressureEvents { context.events.subscribe() }

    /// The level the monitor has reached; `normal` while it does not run.
    public var level: PressureLevel { monitor.level }

    // MARK: Running

    /// Watches the configured sources until the task is cancelled or, in a `ServiceGroup`, gracefully shut down.
    ///
    /// Suspends; the watching is done on a thread of the library's own. Returning is no failure: the manager can be run
    /// again, and its caches can be used on.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable` or `signalUnavailable` when watching cannot begin,
    ///   `controlUnavailable` when ``PressureConfiguration/control`` asks for a socket that cannot be had, `shutDown`
    ///   after ``shutdown()``.
    public func run() async throws {
        try beginRunning()
        defer { endRunning() }
        await waitForShutdown()
    }

    /// Begins what ``run()`` does, for those who cannot suspend. Blocks briefly on the file system.
    ///
    /// - Throws: as ``run()``; nothing runs then.
    package func beginRunning() throws(PressureError) {
        guard !isShutDown.load(ordering: .sequentiallyConsistent) else { throw PressureError.shutDown }
        attendance.close()
        do throws(PressureError) {
            try context.cleaner?.start()
            try openControl()
            try monitor.start()
        } catch {
            endRunning()
            throw error
        }
    }

    /// Ends it. Does not block.
    package func endRunning() {
        monitor.stop()
        control.close()
        context.cleaner?.stop()
    }

    /// Finishes the reclaim that is running, ends the threads and the events, refuses further reclaims, and gives the state
    /// directory back.
    ///
    /// Suspends until then. Caches can still be read, written and saved.
    public func shutdown() async {
        beginShutdown()
        let reclaim = reclaim
        try? await BlockingPool.errands.run { reclaim.waitUntilEnded() }
        context.events.finish()
    }

    /// Refuses further reclaims, and has the threads end after what they are at. Does not wait for that.
    func beginShutdown() {
        isShutDown.store(true, ordering: .sequentiallyConsistent)
        attendance.close()
        endRunning()
        reclaim.stop()
        restoration.letGo()
    }

    // MARK: Reclaim

    /// Frees memory as if the system had warned: the delegate, the events, the controllers, then eviction.
    ///
    /// Suspends until the reclaim has ended; the work is done on the reclaim thread. A request that comes while a reclaim is
    /// running raises that one's target and gets the same report.
    ///
    /// - Parameters:
    ///   - level: `critical` frees all that is not in use, `warning` a part of it
    ///     (``PressureConfiguration/warningShare``), `normal` nothing.
    ///   - bytes: free this many instead, values that exist elsewhere already first.
    @discardableResult
    public func simulateMemoryWarning(_ level: PressureLevel, freeing bytes: ByteCount? = nil) async -> EvictionReport {
        await perform(warning(level, freeing: bytes, source: "simulateMemoryWarning"))
    }

    /// A simulated warning that is yet to be given. `source` is the word for whoever gives it.
    func warning(_ level: PressureLevel, freeing bytes: ByteCount?, source: String) -> ReclaimRequest {
        let amount = bytes.map { .bytes($0.bytes) } ?? ReclaimAmount(level: level, share: warningShare)
        return ReclaimRequest(
            cause: cause(.simulated, source, level: level),
            amount: level == .normal ? ReclaimAmount() : amount,
            warns: level != .normal
        )
    }

    /// Frees `bytes` of what is not in use, without warning anybody.
    ///
    /// Suspends until the reclaim has ended. Freeing less is not an error: the report says what stayed and why.
    public func reclaim(_ bytes: ByteCount) async -> EvictionReport {
        await perform(request(bytes, source: "reclaim"))
    }

    /// A wish for bytes that is yet to be made. `source` is the word for whoever makes it.
    func request(_ bytes: ByteCount, source: String) -> ReclaimRequest {
        ReclaimRequest(cause: cause(.request, source), amount: .bytes(bytes.bytes), warns: false)
    }

    /// Whether a reclaim is wanted or running.
    package var isReclaiming: Bool { reclaim.isActive }

    /// How many callers wait for the reclaim that is running.
    package var pendingReplies: Int { reclaim.pendingReplies }

    func perform(_ request: ReclaimRequest) async -> EvictionReport {
        await Suspended.wait { task in
            var request = request
            context.listener.hurry(for: request.cause.levelAfter)
            // Not held by a variable here, which would live on.
            request.reply = { task.resume(returning: $0.take()!) }
            reclaim.request(request)
        }
    }

    func cause(
        _ origin: PressureCause.Origin,
        _ source: String,
        level: PressureLevel? = nil
    ) -> PressureCause {
        let before = monitor.level
        return PressureCause(origin: origin, source: source, levelBefore: before, levelAfter: level ?? before)
    }

    // MARK: State

    /// The manager, its controllers and caches at this moment. Takes time in proportion to their number.
    public func snapshot() -> PressureSnapshot {
        var controllers: [PressureSnapshot.Controller] = []
        root.describe(into: &controllers)
        let headroom = monitor.headroom
        let usage = context.engine.file.usage()
        let resident = ByteCount(bytes: context.engine.residentBytes())
        let compressed = ByteCount(bytes: context.engine.memory?.usage().occupiedBytes ?? 0)
        let copies = context.engine.isMemoryBacked ? compressed + .bytes(usage.storedBytes) : compressed
        return PressureSnapshot(
            level: monitor.level,
            score: monitor.score,
            available: headroom?.available,
            reclaimable: headroom?.reclaimable,
            limit: headroom?.limit,
            use: headroom.map { headroom in
                let books = context.books.reading
                return PressureSnapshot.Use(
                    headroom,
                    resident: resident,
                    values: ByteCount(bytes: books.resident),
                    copies: copies,
                    heap: ByteCount(bytes: context.engine.heap.reading(beside: books).reclaimable)
                )
            },
            neighbours: monitor.standing.map {
                PressureSnapshot.Neighbours(
                    count: $0.count,
                    held: ByteCount(bytes: $0.held),
                    budget: ByteCount(bytes: $0.budget)
                )
            },
            signals: monitor.statuses,
            admission: context.admission.counts,
            controllers: controllers,
            processResident: resident,
            copied: ByteCount(bytes: usage.plainBytes),
            stored: ByteCount(bytes: usage.storedBytes),
            spillFile: usage.allocatedBytes.map(ByteCount.init),
            demoted: ByteCount(bytes: context.engine.secondary?.file.usage().storedBytes ?? 0),
            compressedInMemory: compressed,
            copiedAhead: ByteCount(bytes: context.cleaner?.copiedBytes.load(ordering: .relaxed) ?? 0)
        )
    }
}
