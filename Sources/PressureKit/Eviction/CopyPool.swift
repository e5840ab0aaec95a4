import CLinuxShims
import PressureSystem
import SpillStore

/// The threads that compress and write, each with scratch reserved before it is needed. The leader's is touched, so
/// that a reclaim gets on whatever the system has left; a helper's is address space until the helper first works, so that
/// a machine with many processors costs a process at rest next to nothing.
///
/// The reclaim thread leads: it hands out a plan's victims, works on chunks like the others, and takes back each victim
/// whose last chunk is written, so that memory comes free while others are still being written. One chunk is the unit
/// of work, so that a single large value keeps every core busy.
///
/// Where it keeps a full cache below its limit, another thread stands in for it at the chunks: a write may wait for the disk, or
/// for memory, and whoever frees memory is not to wait for either (as the kernel's reclaim leaves writing to the flushers).
final class CopyPool: Sendable {
    /// What the leader is to do next.
    enum Step {
        /// The victim of this number is copied or has failed: release it, or note why not.
        case finished(Int)
        /// Work on a chunk.
        case work(CopyJob.Unit)
        /// All victims are finished.
        case done
        /// Look around: others are still at it.
        case look
    }

    struct State {
        var storage: PlanStorage?
        /// What the job's victims are written with.
        var copier: ChunkCopier?
        var job: CopyJob?
        var helpersAllocations = 0
        /// Whether the leader, or whoever stands in for it, does without helpers.
        var isAlone = false
        /// Whether another thread works in the leader's place.
        var isAside = false
        /// Whether the leader has been told that nothing is left to begin.
        var isTold = false
        var isStopped = false
        /// Threads that may work, the leader among them.
        var width = 1
        /// Threads that there are, the leader among them.
        var threads = 1
        /// Whether a helper gives its scratch back to the system after a reclaim.
        var givesBack = false
    }

    /// What every thread of the pool needs, without keeping the pool itself alive.
    struct Tools: Sendable {
        let state = ConditionLock(State())
        /// The leader's, or of whoever stands in for it.
        let encoder: ChunkEncoder
        /// Of the thread that stands in for the leader; none before it runs, or where there is none.
        let priority = AtomicReference<ThreadPriority>()
        let memory: SegmentFile?
        let clock: any MonotonicClock
        let probe: AllocationProbe
    }

    private let tools: Tools
    private let hasStandIn: Bool

    /// Starts the pool: `workers` threads in all, the leader among them.
    ///
    /// - Parameter hasStandIn: Whether a thread stands in for the leader where that is not to write.
    /// - Throws: ``PressureError`` with `spillFailed` when there is no memory for the scratch, or `threadUnavailable`.
    init(
        workers: Int,
        file: SegmentFile,
        memory: SegmentFile? = nil,
        hasStandIn: Bool = false,
        clock: any MonotonicClock,
        probe: @escaping AllocationProbe
    ) throws(PressureError) {
        tools = Tools(encoder: try ChunkEncoder(clock: clock), memory: memory, clock: clock, probe: probe)
        self.hasStandIn = hasStandIn
        let decoder = try ChunkDecoder()
        try file.rehearse(tools.encoder, decoder)
        // A thread that was started before another could not be is ended by deinit.
        if hasStandIn { try addStandIn() }
        for _ in 1..<max(1, workers) { try addHelper() }
        tools.state.withLock { $0.width = max(1, workers) }
    }

    private func addStandIn() throws(PressureError) {
        try WorkerThread.spawn("pk-copy-0") { [tools] in
            pk_exempt_thread()
            let priority = ThreadPriority()
            tools.priority.store(priority)
            tools.standIn(priority)
        }
    }

    private func addHelper() throws(PressureError) {
        let encoder = try ChunkEncoder(clock: tools.clock, isTouched: false)
        let number = tools.state.withLock { $0.threads }
        try WorkerThread.spawn("pk-copy-\(number)") { [tools] in
            pk_exempt_thread()
            // The leader, which does the same, waits for it.
            ThreadPriority().set(isUrgent: true)
            tools.help(with: encoder, number)
        }
        tools.state.withLock { $0.threads += 1 }
    }

    /// How many threads work, the leader among them.
    var width: Int { tools.state.withLock { $0.width } }

    /// How many threads there are, the leader among them.
    var threads: Int { tools.state.withLock { $0.threads } }

    /// Whether a helper gives its scratch back to the system after a reclaim, to touch it again in the next.
    var givesBack: Bool {
        get { tools.state.withLock { $0.givesBack } }
        set { tools.state.withLock { $0.givesBack = newValue } }
    }

    /// Has so many threads work from now on. Starts those that are missing, which allocates; where there is no memory for
    /// one, or no thread, the others do without. From one thread at a time.
    func resize(to workers: Int) {
        tools.state.withLock { $0.width = max(1, min(workers, $0.threads)) }
        while threads < workers {
            guard (try? addHelper()) != nil else { return }
            tools.state.withLock { $0.width = min(workers, $0.threads) }
        }
    }

    deinit { tools.state.withLock { $0.isStopped = true } }

    /// Hands out some victims of a plan until a deadline. On the reclaim thread, as are the following.
    ///
    /// - Parameters:
    ///   - isAlone: Whether one thread does all of it: it is in no hurry, and helpers would take the processors from readers.
    ///   - isAside: Whether another thread works in the leader's place, if there is one.
    func begin(
        _ storage: PlanStorage,
        victims: Range<Int>,
        with copier: ChunkCopier,
        deadline: MonotonicInstant?,
        isAlone: Bool = false,
        isAside: Bool = false
    ) {
        let isAside = isAside && hasStandIn
        if isAside { tools.priority.object?.set(isUrgent: !isAlone) }
        tools.change(isAwaited: !isAlone || isAside) { state in
            (state.isAlone, state.isAside, state.isTold) = (isAlone, isAside, false)
            (state.storage, state.copier) = (storage, copier)
            state.job = CopyJob(
                storage,
                victims: victims,
                file: copier.file,
                memory: tools.memory,
                deadline: deadline
            )
            state.helpersAllocations = 0
        }
    }

    /// What the leader is to do next. Blocks while others work on what is left.
    ///
    /// - Parameter limit: How long, at most; after that the leader is to look around.
    func nextStep(atMost limit: Duration) -> Step {
        tools.state.wait(atMost: limit) { $0.nextStep(now: tools.clock.now()) } ?? .look
    }

    /// What the leader is to do next. Blocks while others work on what is left.
    func nextStep() -> Step { tools.state.wait { $0.nextStep(now: tools.clock.now()) } }

    /// Works on a chunk on the leader's thread.
    func work(on unit: CopyJob.Unit) { tools.copy(unit, with: tools.encoder, isLeader: true) }

    /// What was begun in no hurry is in one now. From any thread; takes no lock.
    func hurry() { tools.priority.object?.set(isUrgent: true) }

    /// Begins no more victims: writing fails, and trying the rest would only fail more slowly.
    func suspend() { tools.state.withQuietLock { $0.job?.suspend() } }

    /// Begins no more victims, and gives up what can be made again: memory is needed sooner. Returns the first victim that was not
    /// begun.
    func abandon() -> Int { tools.state.withQuietLock { $0.job?.abandon() ?? 0 } }

    /// Whether the deadline kept a victim of the job from being begun.
    var isLate: Bool { tools.state.withQuietLock { $0.job?.isLate ?? false } }

    /// Ends the job, so that the storage may be used for something else. Returns the heap allocations that the helpers
    /// made meanwhile, where a probe counts them.
    func end() -> Int {
        let isAlone = tools.state.withQuietLock { $0.isAlone }
        // Helpers that were at it give their scratch back.
        return tools.change(isAwaited: !isAlone) { state in
            state.job = nil
            (state.storage, state.copier) = (nil, nil)
            return state.helpersAllocations
        }
    }
}

extension CopyPool.State {
    mutating func nextStep(now: MonotonicInstant) -> CopyPool.Step? {
        if let victim = job?.takeFinished() { return .finished(victim) }
        if !isAside, let unit = job?.takeUnit(now: now) { return .work(unit) }
        // Looking for work may have finished victims that need none.
        if let victim = job?.takeFinished() { return .finished(victim) }
        return job?.isDone ?? true ? .done : nil
    }
}

extension SegmentFile {
    /// Rehearses as the manager does: a disk that is full now may have room later, and is no reason not to start.
    func rehearse(_ encoder: ChunkEncoder, _ decoder: ChunkDecoder) throws(PressureError) {
        do throws(SpillFailure) {
            try rehearse(with: encoder, decoder)
        } catch {
            guard error.isDiskFull else { throw error.pressureError(server: fileSystem.server) }
        }
    }
}

/// Counts the heap allocations of the calling thread; only differences mean something.
package typealias AllocationProbe = @Sendable () -> Int
