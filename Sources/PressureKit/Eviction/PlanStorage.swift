/// The memory a plan is made in, reserved while memory is plentiful: candidates, choices, and what became of each.
///
/// Grows when caches are registered, never during a relief.
@safe
package final class PlanStorage: @unchecked Sendable {
    // Sendable and safe: whoever has taken it out of its Lock is the only one to touch it, and every buffer has
    // `capacity` elements.

    /// A value that could leave memory: where it is. The entry is retained while it is listed.
    @unsafe struct Place {
        var entry: Unmanaged<CacheEntry>
        var slot: UnsafeMutableRawPointer
    }

    /// Why a value in memory was passed over, or what failed.
    @unsafe struct Skip {
        var entry: Unmanaged<CacheEntry>
        var reason: EvictionReport.SkipReason
        var footprint: Int
    }

    /// What happened to a victim.
    struct Outcome {
        /// 0 until it is gone; then the how-manieth it was.
        var order = 0
        var bytes = 0
        /// The plain bytes a copy has to write.
        var plainBytes: Int
        var storedBytes = 0
        /// Chunks not written yet, while it is being copied.
        var chunksLeft = 0
        /// Why it could not be copied.
        var failure: SpillFailure?
        var copyStart: MonotonicInstant?
        var copyTime = Duration.zero
        var releaseTime = Duration.zero
    }

    private(set) var capacity = 0
    private(set) var candidates = unsafe UnsafeMutableBufferPointer<Candidate>(start: nil, count: 0)
    private(set) var places = unsafe UnsafeMutableBufferPointer<Place>(start: nil, count: 0)
    private(set) var choices = unsafe UnsafeMutableBufferPointer<Planner.Choice>(start: nil, count: 0)
    private(set) var outcomes = unsafe UnsafeMutableBufferPointer<Outcome>(start: nil, count: 0)
    /// Victims whose copy is finished, in the order in which that happened.
    private(set) var finished = unsafe UnsafeMutableBufferPointer<UInt32>(start: nil, count: 0)
    private(set) var skips = unsafe UnsafeMutableBufferPointer<Skip>(start: nil, count: 0)

    /// How many candidates are listed.
    private(set) var candidateCount = 0
    /// How many skips are listed.
    private(set) var skipCount = 0

    init() {}

    deinit {
        clear()
        deallocate()
    }

    /// Makes room for two rounds over `count` caches (the second for a target that was raised), with some in hand, so
    /// that registering one at a time is cheap.
    func reserve(_ count: Int) {
        guard 2 * count > capacity else { return }
        precondition(candidateCount == 0 && skipCount == 0, "plan storage grew while a plan was in it")
        deallocate()
        capacity = max(128, 3 * count)
        unsafe candidates = .allocate(capacity: capacity)
        unsafe places = .allocate(capacity: capacity)
        unsafe choices = .allocate(capacity: capacity)
        unsafe outcomes = .allocate(capacity: capacity)
        unsafe finished = .allocate(capacity: capacity)
        unsafe skips = .allocate(capacity: capacity)
    }

    private func deallocate() {
        unsafe candidates.deallocate()
        unsafe places.deallocate()
        unsafe choices.deallocate()
        unsafe outcomes.deallocate()
        unsafe finished.deallocate()
        unsafe skips.deallocate()
    }

    /// Lists a candidate. One that does not fit is left for the next relief: it was registered a moment ago.
    func append(_ candidate: Candidate, entry: CacheEntry, slot: UnsafeMutableRawPointer, plainBytes: Int) {
        guard candidateCount < capacity else { return }
        unsafe candidates[candidateCount] = candidate
        unsafe places[candidateCount] = Place(entry: .passRetained(entry), slot: slot)
        unsafe outcomes[candidateCount] = Outcome(plainBytes: plainBytes)
        candidateCount += 1
    }

    /// Lists a value that was passed over.
    func appendSkip(_ entry: CacheEntry, _ reason: EvictionReport.SkipReason, footprint: Int) {
        guard skipCount < capacity else { return }
        unsafe skips[skipCount] = Skip(entry: .passRetained(entry), reason: reason, footprint: footprint)
        skipCount += 1
    }

    /// The bytes of the candidates listed from `index` on.
    func footprint(from index: Int) -> Int {
        var sum = 0
        for index in index..<candidateCount { unsafe sum += candidates[index].footprint }
        return sum
    }

    /// Forgets the skips: a new round looks at everything anew.
    func clearSkips() {
        for index in 0..<skipCount { unsafe skips[index].entry.release() }
        skipCount = 0
    }

    /// Forgets everything listed.
    func clear() {
        clearSkips()
        for index in 0..<candidateCount { unsafe places[index].entry.release() }
        candidateCount = 0
    }
}
