import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// Carries a plan out: releases what is free to release, has the rest copied, and measures what came back.
///
/// All but ``reserve(values:caches:)`` runs on the reclaim thread, so one reclaim at a time.
final class ReclaimEngine: Sendable {
    /// The disk, or without one the server.
    let primary: SpillTarget
    /// The server behind the disk; `nil` for none.
    let secondary: SpillTarget?
    /// The spill file of the first of them.
    var file: SegmentFile { primary.file }
    /// The compressed tier; `nil` when there is to be none.
    let memory: SegmentFile?
    let compressedTier: CompressedTier
    let isMemoryBacked: Bool
    let policy: any EvictionPolicy
    /// Threads that compress and write now: that follows the limit on memory and the quota of processor time.
    var workers: Int { pool.width }
    let clock: any MonotonicClock
    let footprint: ProcessFootprint
    let heap: FreeHeap
    private let residentOverride: (@Sendable () -> Int)?
    let pool: CopyPool
    let probe: AllocationProbe
    let isProbed: Bool
    private let failureListener = Lock<Handler<Failure, Void>?>(nil)
    let history = Lock(PlanHistory(start: UseClock.now))
    /// For ``spill(_:_:)``; those of reclaims are the pool's.
    let encoders = Lock<[ChunkEncoder]>([])
    /// What of the values in memory can be given back at once.
    let reclaimability = Lock(Reclaimability())
    /// Which part of the values the next batch is chosen from.
    let turn = Atomic<Int>(0)
    /// The ``UseClock`` when the last batch was planned.
    let lastBatch = Atomic<UInt32>(UseClock.now)
    /// The limit on the process's memory when this was made; `nil` for none.
    let firstLimit: ByteCount?
    let largeBlocks: LargeBlocks
    /// What the sizes were last made for.
    let followed: Followed
    /// Taken out while a reclaim runs.
    let storage: IdlePlanStorage

    /// Opens the spill file and reserves what reclaims will need. Blocks briefly.
    init(_ options: EngineOptions) throws(PressureError) {
        let limit = CgroupLimit.least(options.limits)
        firstLimit = limit
        let place = try options.chooseFirstPlace()
        followed = Followed(options, requests: place.requests)
        let reserves = followed.reserves(limit)
        primary = try options.primary(in: place, reserves, isLimited: limit != nil)
        secondary = try options.secondary(behind: primary)
        compressedTier = options.compressedTier
        let file = primary.file
        memory =
            try compressedTier.limit > .zero
            ? SegmentFile(inMemory: compressedTier.limit, decoders: file.decoders) : nil
        isMemoryBacked = place.isMemoryBacked
        storage = IdlePlanStorage(PlanStorage(most: options.plannedValues))
        storage.bound(to: reserves.plannedValues)
        policy = options.policy
        residentOverride = options.residentBytes
        clock = options.clock
        probe = options.allocationProbe ?? { 0 }
        isProbed = options.allocationProbe != nil
        footprint = try ProcessFootprint()
        heap = options.heap ?? FreeHeap(clock: options.clock, process: options.measuresHeap ? footprint : nil)
        pool = try CopyPool(
            workers: reserves.workers,
            file: file,
            memory: memory,
            hasStandIn: options.writesAside,
            clock: options.clock,
            probe: options.allocationProbe ?? { 0 }
        )
        pool.givesBack = limit != nil
        WarmPages.shared.follow(reserves)
        largeBlocks = LargeBlocks(environment: options.environment)
        if let limit { largeBlocks.follow(limit) }
    }

    /// Makes room for plans over so many values of so many caches. Allocates; from any thread.
    func reserve(values: Int, caches: Int) {
        storage.reserve(values: values, caches: caches)
    }

    /// Where to write now: the disk, or what is behind it while that is full or fails; `nil` while writing is not to be
    /// tried at all.
    var target: SpillTarget? {
        // Without anything behind it, that it is full is for the report to say.
        let hasRoom = secondary == nil || primary.file.hasRoom(for: SegmentFile.chunkSize)
        if hasRoom, primary.mayWrite { return primary }
        return secondary.flatMap { $0.mayWrite ? $0 : nil }
    }

    /// Whether writing may be tried now.
    var canSpill: Bool { target != nil }

    /// What goes wrong outside reclaims, whose reports say so themselves.
    enum Failure: Sendable {
        /// So many values could not be written: a failure for each of their caches.
        case notSpilled([ResourceFailure], count: Int)
        /// The disk failed after it had taken a write.
        case late(PressureError)
    }

    /// Told of what fails outside reclaims, on the thread that found it, with nothing locked.
    var onFailure: (@Sendable (Failure) -> Void)? {
        get { failureListener.withLock { $0 }?.call }
        set { failureListener.withLock { $0 = newValue.map(Handler.init) } }
    }

    /// Tells of it when write-back has failed, outside a reclaim.
    func lookAtWriteback() {
        // A server has none.
        if let failure = primary.takeLateFailure() { onFailure?(.late(failure.pressureError(server: nil))) }
    }

    /// What a round may do with the compressed tier that writes to `target`: what it can take is nothing for a server.
    func compression(beside target: SpillTarget?) -> CompressedTierUse {
        guard let memory, memory.hasRoom(for: SegmentFile.chunkSize) else { return .none }
        return switch compressedTier {
        case .never: .none
        case .whenSpillingFails: target != nil && target === secondary ? .first : .fallback
        case .first: .first
        }
    }

    /// How many values there is room for in plans, growth in hand aside.
    var reservedValues: Int { storage.reservedValues }

    /// The process's resident bytes now.
    func residentBytes() -> Int { residentOverride?() ?? footprint.residentBytes() }
}
