import CLinuxShims
import PressureSystem
import SpillStore
import Synchronization

/// Works ahead while nobody needs the machine: writes the copies of values that have not been used for a while, so that
/// a warning only has to free them; compresses what was written in haste; moves what was compressed in memory to the
/// disk; and gives back the blocks of the spill file that nothing lies in.
///
/// A thread of its own. It sleeps until the monitor, which is awake anyway, sees that there may be work. Before every
/// chunk it asks whether memory is not short: level normal, no reclaim. Between slices it asks the kernel whether anybody waits for
/// processors or devices, and keeps to a rate. A chunk, some 4 ms, is the longest that it goes on after a warning.
///
/// In the batch class, not the idle one: a thread that holds a lock, a slot that readers wait for, or the kernel's lock
/// of the spill file, and gets no processor, keeps reclaims and readers waiting for as long as the processors are busy,
/// and one that went into the idle class may not leave it again without privileges (sched(7)). A thread of the batch
/// class pushes nobody aside when it wakes up; that it takes part otherwise is what the ``CleaningGate`` sees.
final class CleaningWorker: Sendable {
    /// Bytes between two looks at how busy the machine is.
    static let slice = 1 << 20
    /// From one look for work to the next, where the first has found none.
    private static let pause = Duration.seconds(1)

    private struct State {
        var line = ColdLine()
        var gate = CleaningGate()
        var pacing: CleaningPacing
        /// Made when there is work, gone when there is none: a worker at rest has no scratch.
        var tools: CleaningTools?
        let work = CleaningWork()
        /// The ``UseClock`` when a look found nothing to do, neither now nor later.
        var idleSince: UInt32?
        /// It is not woken to look before that: a look goes through all values, and what is cold changes slowly.
        var nextLook: MonotonicInstant?

        /// Notes what is cold by now.
        mutating func noteTime(_ now: MonotonicInstant) { line.note(UseClock.now, at: now, tick: UseClock.tick) }
    }

    private let engine: ReclaimEngine
    /// Its context keeps the worker, so it does not keep the root.
    private weak let root: (any CandidateSource)?
    private let isUnpressured: @Sendable () -> Bool
    private let read: @Sendable (MonotonicInstant) -> BusyReading
    /// Taken out for a step, so that nothing is locked while an app's value passes its bytes.
    private let state: Lock<State?>
    private let running = Lock<EventLoop?>(nil)
    /// Plain bytes of the copies that were written ahead.
    let copiedBytes = Atomic<Int>(0)
    /// Plain bytes of the copies that were written anew.
    let movedBytes = Atomic<Int>(0)

    /// A worker that does nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - isUnpressured: whether nobody needs memory. Called often, on the worker's thread.
    ///   - read: how busy the machine is.
    init(
        engine: ReclaimEngine,
        root: any CandidateSource,
        rate: ByteCount,
        isUnpressured: @escaping @Sendable () -> Bool,
        read: @escaping @Sendable (MonotonicInstant) -> BusyReading
    ) {
        self.engine = engine
        self.root = root
        self.isUnpressured = isUnpressured
        self.read = read
        let pacing = CleaningPacing(rate: rate.bytes, burst: max(Self.slice, rate.bytes / 4))
        state = Lock(State(pacing: pacing))
    }

    deinit { stop() }

    /// Begins to work when it is notified. Does nothing when it already does.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable` or `signalUnavailable`.
    func start() throws(PressureError) {
        try running.withLock { (running: inout EventLoop?) throws(PressureError) in
            guard running == nil else { return }
            let loop = try EventLoop()
            try WorkerThread.spawn("pk-cleaning") { [weak self] in
                _ = pk_run_in_batches()
                // A day is for ever: a wake-up ends it.
                while let pause = self?.step(), loop.wait(upTo: pause ?? .seconds(86_400)) {}
            }
            running = loop
        }
    }

    /// Stops after the chunk that is being written.
    func stop() { running.withLock { $0.take()?.finish() } }

    /// Has the thread look whether there is work, if there may be some. Cheap; called by the monitor with each sample.
    func wake() {
        guard isUnpressured() else { return }
        let now = engine.clock.now()
        let mayHaveWork = state.withLock { state in
            // Whoever has taken it out is awake.
            guard state != nil else { return false }
            state?.noteTime(now)
            if let next = state?.nextLook, now < next { return false }
            return state?.idleSince != UseClock.now
        }
        if mayHaveWork { running.withLock { $0?.wake() } }
    }

    /// Looks for work or does a slice of it. The body of the thread's loop; call it only to drive a worker that is not
    /// started.
    ///
    /// - Returns: how long to pause; `nil` until it is notified. The outer optional is for the thread's weak reference.
    func step() -> Duration?? {
        // A thread that was told to stop, and has not noticed: the manager was run again, and has another one.
        guard var taken = state.withLock({ $0.take() }) else { return .some(CleaningGate.shortestPause) }
        let pause = slice(&taken)
        state.withLock { $0 = taken }
        return .some(pause)
    }

    private func slice(_ state: inout State) -> Duration? {
        guard isUnpressured() else {
            state.gate.reset()
            state.work.clear()
            state.tools = nil
            return nil
        }
        if state.work.isEmpty, !look(&state) {
            state.tools = nil
            return nil
        }
        guard state.gate.allows(read(engine.clock.now())) else { return state.gate.pause }
        let delay = state.pacing.delay(at: engine.clock.now())
        guard delay == .zero else { return delay }
        var done = 0
        while done < Self.slice, isUnpressured() {
            guard let bytes = next(&state) else { break }
            done += bytes
        }
        state.pacing.use(done)
        return CleaningGate.shortestPause
    }

    /// Lists what there is to do; whether there is something now. Nothing is locked for long: controllers one by one, for
    /// a copy of their lists, and caches with many values a slice at a time.
    private func look(_ state: inout State) -> Bool {
        let reading = UseClock.now
        guard state.idleSince != reading else { return false }
        let now = engine.clock.now()
        state.noteTime(now)
        state.nextLook = now + Self.pause
        let (canSpill, demotable) = (engine.canSpill, engine.demotable)
        let (line, work) = (state.line, state.work)
        work.clear()
        var entries: [(entry: CacheEntry, isVisible: Bool)] = []
        root?.collectEntries(into: &entries)
        for (entry, _) in entries { entry.list(in: work, behind: line, canSpill: canSpill, demotable: demotable) }
        guard work.isEmpty else { return true }
        // Nothing more happens to the copies for now: the time to give blocks back.
        engine.file.punchPending()
        engine.memory?.punchPending()
        engine.secondary?.file.punchPending()
        engine.file.drainWriteback()
        engine.lookAtWriteback()
        state.idleSince = work.hasMore ? nil : UseClock.now
        return false
    }

    /// Does the next piece of work; the plain bytes, or `nil` when there is none.
    private func next(_ state: inout State) -> Int? {
        if state.tools == nil { state.tools = try? CleaningTools(clock: engine.clock) }
        // Without memory for scratch it is no time to work ahead.
        guard let tools = state.tools else { return nil }
        defer { engine.lookAtWriteback() }
        var sinceLook = 0
        // Also in the middle of a large value; then it is begun anew another time.
        func goesOn() -> Bool {
            guard isUnpressured() else { return false }
            sinceLook += SegmentFile.chunkSize
            guard sinceLook > Self.slice else { return true }
            sinceLook = 0
            return state.gate.allows(read(engine.clock.now()))
        }
        return unsafe state.work.withNext { entry, slot, task in
            let target = task == .demote ? engine.demotionTarget : engine.target
            // It has come to fail, or there is room on the disk again.
            guard let target else { return 0 }
            do throws(SpillFailure) {
                let bytes: Int
                switch task {
                case .copy:
                    bytes = try unsafe target.copyAhead(entry, slot, with: tools.encoder, while: goesOn)
                    copiedBytes.wrappingAdd(bytes, ordering: .relaxed)
                case .move, .demote:
                    bytes = try unsafe entry.moveCopy(slot, to: target.file, with: tools, while: goesOn)
                    movedBytes.wrappingAdd(bytes, ordering: .relaxed)
                }
                // Nothing else may be written there, and failures far apart are no failures in a row.
                if bytes > 0 { target.note(nil) }
                return bytes
            } catch {
                target.note(error)
                return Self.slice
            }
        }
    }
}

extension SpillTarget {
    /// Writes a value's copy while it stays in memory. Returns its plain bytes, 0 if it was given up or had one.
    ///
    /// - Throws: what the disk said.
    func copyAhead(
        _ entry: CacheEntry,
        _ slot: UnsafeMutableRawPointer,
        with encoder: ChunkEncoder,
        while goesOn: () -> Bool
    ) throws(SpillFailure) -> Int {
        guard unsafe entry.beginCopy(slot, in: file) else { return 0 }
        let start = clock.now()
        var byteCount = unsafe entry.plainByteCount(slot)
        let chunks = max(1, SegmentFile.chunkCount(forByteCount: byteCount))
        // Bytes that have to be made are made once.
        let stride = entry.spillsInPlace ? 1 : chunks
        var chunk = 0
        var failure: SpillFailure?
        while chunk < chunks, failure == nil, goesOn() {
            let range = chunk..<min(chunks, chunk + stride)
            failure = unsafe copier.copy(range, of: entry, slot, with: encoder, for: .background).failure
            chunk += stride
        }
        let isWhole = chunk >= chunks && failure == nil
        let written = unsafe entry.plainByteCount(slot)
        unsafe entry.finishCopy(slot, succeeded: isWhole)
        if let failure { throw failure }
        guard isWhole else { return 0 }
        // What it was taken for before, if its bytes had to be made.
        byteCount = written
        entry.statistics.noteWrite(clock.now() - start, byteCount: byteCount)
        return byteCount
    }
}
