import PressureSystem
import SpillStore

/// The victims of a plan that have to be written, handed out chunk by chunk, and taken back when their last chunk is
/// done. Pure bookkeeping; whoever holds it holds the pool's lock.
struct CopyJob {
    /// A piece of work.
    struct Unit {
        /// Which of the plan's victims.
        var victim: Int
        /// Which chunks. All of them at once if the value's bytes have to be made first.
        var chunks: Range<Int>
        /// How many victims from this one on, all of them small: those are written together.
        var count = 1
    }

    private let storage: PlanStorage
    private let file: SegmentFile
    private let memory: SegmentFile?
    private let deadline: MonotonicInstant?
    /// The victims that no one has begun. Two numbers, not a range: collection methods that the compiler does not
    /// specialise, as in a debug build, allocate.
    private var nextVictim: Int
    private var endOfVictims: Int
    /// The victim whose chunks are being handed out, and those that are left.
    private var open: Unit?
    private var underWay = 0
    private var finishedCount = 0
    private var takenCount = 0

    init(
        _ storage: PlanStorage,
        victims: Range<Int>,
        file: SegmentFile,
        memory: SegmentFile? = nil,
        deadline: MonotonicInstant? = nil
    ) {
        self.storage = storage
        self.file = file
        self.memory = memory
        self.deadline = deadline
        nextVictim = victims.lowerBound
        endOfVictims = victims.upperBound
    }

    /// Whether every victim that was begun is finished and taken back, and none is waiting.
    var isDone: Bool { underWay == 0 && open == nil && nextVictim == endOfVictims && takenCount == finishedCount }

    /// Whether the deadline kept a victim from being begun.
    private(set) var isLate = false
    private var isAbandoned = false

    /// Begins no more victims.
    mutating func suspend() { endOfVictims = nextVictim }

    /// Gives up what can be made again, between two chunks: a large value takes longer than there is time. Returns the first victim
    /// that was not begun.
    mutating func abandon() -> Int {
        suspend()
        isAbandoned = true
        return nextVictim
    }

    /// A victim that is finished: copied, failed, or not to be copied after all.
    mutating func takeFinished() -> Int? {
        guard takenCount < finishedCount else { return nil }
        defer { takenCount += 1 }
        // Below `finishedCount`, so it was written.
        return unsafe Int(storage.finished[takenCount])
    }

    /// The next piece of work, if there is one to hand out.
    mutating func takeUnit(now: MonotonicInstant) -> Unit? {
        while true {
            if let unit = takeFromOpen() {
                underWay += 1
                return unit
            }
            guard nextVictim < endOfVictims else { return nil }
            if let deadline, now >= deadline {
                isLate = true
                suspend()
                return nil
            }
            nextVictim += 1
            begin(nextVictim - 1, now: now)
            if let unit = gather(now: now) {
                underWay += 1
                return unit
            }
        }
    }

    /// If the victim that was just begun is small, begins those that follow it and are small too.
    private mutating func gather(now: MonotonicInstant) -> Unit? {
        // With a deadline, the clock is looked at before each value.
        guard deadline == nil, let first = open?.victim, isSmall(first) else { return nil }
        open = nil
        var count = 1
        var bytes = unsafe storage.outcomes[first].plainBytes
        while nextVictim < endOfVictims, nextVictim - first < ChunkCopier.mostBatched, bytes < SegmentFile.chunkSize,
            isSmall(nextVictim)
        {
            nextVictim += 1
            begin(nextVictim - 1, now: now)
            // One that could not be begun is the leader's already, so the unit ends before it. It ends too before one that
            // a writer has changed since it was looked at: only now does it stay as it is.
            guard open != nil, isSmall(nextVictim - 1) else { break }
            // What is begun is done in this unit, not handed out.
            open = nil
            count += 1
            unsafe bytes += storage.outcomes[nextVictim - 1].plainBytes
        }
        return Unit(victim: first, chunks: 0..<1, count: count)
    }

    /// Whether a victim gains from being written together with others.
    private func isSmall(_ victim: Int) -> Bool {
        let candidate = storage.candidate(ofVictim: victim)
        // Within the plan; the storage retains every entry it lists.
        let (method, place) = unsafe (storage.candidates[candidate].method, storage.places[candidate])
        guard method == .spill else { return false }
        let byteCount = unsafe place.entry.takeUnretainedValue().plainByteCount(place.slot)
        return 1...SegmentFile.longestBatched ~= byteCount
    }

    /// Whether the loader of a victim makes it again.
    private func isReloadable(_ victim: Int) -> Bool {
        let place = unsafe storage.place(ofVictim: victim)
        // The storage retains every entry it lists.
        return unsafe place.entry.takeUnretainedValue().header(place.slot).pointee.state.isReloadable
    }

    /// A small victim of a piece of work is done, or has failed; `end()` follows the last one.
    mutating func finish(_ victim: Int, of unit: Unit, _ result: ChunkCopier.Result, now: MonotonicInstant) {
        if let failure = result.failure { unsafe storage.outcomes[victim].failure = failure }
        unsafe storage.outcomes[victim].isProvisional = result.isProvisional
        unsafe storage.outcomes[victim].isUntried = result.isUntried
        unsafe storage.outcomes[victim].chunksLeft = 0
        noteByteCount(victim)
        if let start = unsafe storage.outcomes[victim].copyStart {
            // Each has its share of the time that all of them took.
            unsafe storage.outcomes[victim].copyTime = max(.zero, now - start) / unit.count
        }
        push(victim)
    }

    /// A piece of work is over, all of whose victims were finished one by one.
    mutating func end(_ unit: Unit) { underWay -= 1 }

    /// A piece of work is done, or has failed.
    mutating func finish(_ unit: Unit, _ result: ChunkCopier.Result, now: MonotonicInstant) {
        underWay -= 1
        unsafe storage.outcomes[unit.victim].chunksLeft -= unit.chunks.count
        if let failure = result.failure { unsafe storage.outcomes[unit.victim].failure = failure }
        if result.isProvisional { unsafe storage.outcomes[unit.victim].isProvisional = true }
        noteByteCount(unit.victim)
        close(unit.victim, now: now)
    }

    private mutating func begin(_ victim: Int, now: MonotonicInstant) {
        let place = unsafe storage.place(ofVictim: victim)
        // The storage retains every entry it lists.
        let entry = unsafe place.entry.takeUnretainedValue()
        let method = unsafe storage.candidates[storage.candidate(ofVictim: victim)].method
        guard unsafe entry.beginCopy(place.slot, in: method == .compress ? memory ?? file : file) else {
            push(victim)
            return
        }
        // The value may have changed since it was listed; now that it is being copied, nobody changes it.
        unsafe storage.outcomes[victim].plainBytes = entry.plainByteCount(place.slot)
        let chunks = unsafe SegmentFile.chunkCount(forByteCount: storage.outcomes[victim].plainBytes)
        // One unit at least, since an empty value is asked for its bytes too.
        unsafe storage.outcomes[victim].chunksLeft = max(1, chunks)
        unsafe storage.outcomes[victim].copyStart = now
        open = Unit(victim: victim, chunks: 0..<max(1, chunks))
    }

    /// How many bytes a value has is known only when they have been made.
    private func noteByteCount(_ victim: Int) {
        let place = unsafe storage.place(ofVictim: victim)
        // The storage retains every entry it lists, and the slot is being copied still.
        let entry = unsafe place.entry.takeUnretainedValue()
        if entry.encodesWhenSpilled { unsafe storage.outcomes[victim].plainBytes = entry.plainByteCount(place.slot) }
    }

    private mutating func takeFromOpen() -> Unit? {
        guard let unit = open else { return nil }
        if isAbandoned, unsafe storage.outcomes[unit.victim].failure == nil, isReloadable(unit.victim) {
            unsafe (storage.outcomes[unit.victim].failure, storage.outcomes[unit.victim].isUntried) = (.abandoned, true)
        }
        let outcome = unsafe storage.outcomes[unit.victim]
        if outcome.failure != nil {
            // The rest would be written in vain.
            unsafe storage.outcomes[unit.victim].chunksLeft -= unit.chunks.count
            open = nil
            close(unit.victim, now: outcome.copyStart ?? MonotonicInstant(nanoseconds: 0))
            return nil
        }
        let entry = unsafe storage.place(ofVictim: unit.victim).entry.takeUnretainedValue()
        let count = entry.spillsInPlace ? 1 : unit.chunks.count
        let split = unit.chunks.lowerBound + count
        open = split < unit.chunks.upperBound ? Unit(victim: unit.victim, chunks: split..<unit.chunks.upperBound) : nil
        return Unit(victim: unit.victim, chunks: unit.chunks.lowerBound..<split)
    }

    private mutating func close(_ victim: Int, now: MonotonicInstant) {
        guard unsafe storage.outcomes[victim].chunksLeft == 0 else { return }
        if let start = unsafe storage.outcomes[victim].copyStart {
            unsafe storage.outcomes[victim].copyTime = max(.zero, now - start)
        }
        push(victim)
    }

    private mutating func push(_ victim: Int) {
        // One place for each victim, and each is finished once.
        unsafe storage.finished[finishedCount] = UInt32(victim)
        finishedCount += 1
    }
}
