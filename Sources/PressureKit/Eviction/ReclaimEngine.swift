import CLinuxShims
import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// Carries a plan out: releases what is free to release, has the rest copied, and measures what came back.
///
/// All but ``reserve(values:caches:)`` runs on the reclaim thread, so one reclaim at a time.
final class ReclaimEngine: Sendable {
    let file: SegmentFile
    /// The compressed tier; `nil` when there is to be none.
    let memory: SegmentFile?
    let compressedTier: CompressedTier
    let isMemoryBacked: Bool
    let policy: any EvictionPolicy
    /// What the server is called that is spilled to; `nil` for a disk.
    var server: String? { file.fileSystem.server }
    /// Threads that compress and write now: that follows the limit on memory and the quota of processor time.
    var workers: Int { pool.width }
    let clock: any MonotonicClock
    let footprint: ProcessFootprint
    let heap: FreeHeap
    private let residentOverride: (@Sendable () -> Int)?
    let pool: CopyPool
    let copier: ChunkCopier
    let probe: AllocationProbe
    let isProbed: Bool
    let backoff = Lock(SpillBackoff())
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
    /// What the sizes were last made for.
    let followed: Followed
    /// Taken out while a reclaim runs.
    let storage: IdlePlanStorage

    /// Opens the spill file and reserves what reclaims will need. Blocks briefly.
    init(_ options: EngineOptions) throws(PressureError) {
        let directory = try options.chooseDirectory()
        let limit = CgroupLimit.least(options.limits)
        followed = Followed(options)
        let reserves = followed.reserves(limit)
        file = try SegmentFile(
            directory: directory,
            fileSystem: options.remote ?? options.fileSystem,
            limits: SpillLimits(
                maximumBytes: options.spillLimit,
                freeSpaceFloor: options.freeSpaceFloor,
                bypassPageCache: options.bypassesPageCache ?? (limit != nil),
                writebackWindow: reserves.window,
                mostWriteback: reserves.writeback
            ),
            cipher: options.cipher
        )
        compressedTier = options.compressedTier
        memory =
            try compressedTier.limit > .zero
            ? SegmentFile(inMemory: compressedTier.limit, decoders: file.decoders) : nil
        isMemoryBacked = directory.isMemoryBacked
        storage = IdlePlanStorage(PlanStorage(limit: options.plannedValues))
        policy = options.policy
        residentOverride = options.residentBytes
        clock = options.clock
        probe = options.allocationProbe ?? { 0 }
        isProbed = options.allocationProbe != nil
        footprint = try ProcessFootprint()
        heap = FreeHeap(clock: options.clock, isMeasured: options.measuresHeap)
        copier = ChunkCopier(
            file: file,
            choice: options.compression,
            compressesLater: options.compressesLater
        )
        pool = try CopyPool(
            workers: reserves.workers,
            copier: copier,
            memory: memory,
            clock: options.clock,
            probe: options.allocationProbe ?? { 0 }
        )
        pool.givesBack = limit != nil
        WarmPages.shared.follow(reserves)
    }

    /// Makes room for plans over so many values of so many caches. Allocates; from any thread.
    func reserve(values: Int, caches: Int) {
        storage.reserve(values: values, caches: caches)
    }

    /// Whether writing may be tried now.
    var canSpill: Bool {
        let now = clock.now()
        return backoff.withLock { $0.allowsWriting(at: now) }
    }

    /// Writes one value's copy on the calling thread, outside any reclaim: how a cache keeps to its own limit. Blocks;
    /// allocates. Returns whether the value has a copy now.
    func spill(_ entry: CacheEntry, _ slot: UnsafeMutableRawPointer) -> Bool {
        guard unsafe entry.beginCopy(slot, in: file) else { return false }
        guard let encoder = encoders.withLock({ $0.popLast() }) ?? (try? ChunkEncoder(clock: clock)) else {
            unsafe entry.finishCopy(slot, succeeded: false)
            return false
        }
        let chunks = unsafe max(1, SegmentFile.chunkCount(forByteCount: entry.plainByteCount(slot)))
        let result = unsafe copier.copy(0..<chunks, of: entry, slot, with: encoder, for: .reclaim)
        let failure = result.failure
        unsafe entry.finishCopy(slot, succeeded: failure == nil, isProvisional: result.isProvisional)
        encoders.withLock { if $0.count < Self.keptEncoders { $0.append(encoder) } }
        noteWriting(failure)
        if let failure { onFailure?(.notSpilled([ResourceFailure(entry, failure, server: server)], count: 1)) }
        lookAtWriteback()
        return failure == nil
    }

    /// Something was written, or could not be, outside a reclaim.
    func noteWriting(_ failure: SpillFailure?) {
        let now = clock.now()
        backoff.withLock { backoff in
            guard let failure else {
                if !file.isDoubtful { backoff.noteSuccess() }
                return
            }
            // A value that cannot be encoded says nothing about the disk.
            if !failure.concernsValueOnly { backoff.noteFailure(isDiskFull: failure.isDiskFull, at: now) }
        }
    }

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

    /// Whether write-back has failed since the last look: writing is suspended then, at once, since writes that
    /// succeed say nothing against it. Allocates nothing.
    func takeLateFailure() -> SpillFailure? {
        guard let failure = file.takeLateFailure() else { return nil }
        let now = clock.now()
        backoff.withLock { $0.noteFailure(isDiskFull: true, at: now) }
        return failure
    }

    /// The same outside a reclaim, and tells of it.
    func lookAtWriteback() {
        if let failure = takeLateFailure() { onFailure?(.late(failure.pressureError(server: server))) }
    }

    /// What a round may do with the compressed tier.
    var compression: CompressedTierUse {
        guard let memory, memory.hasRoom(for: SegmentFile.chunkSize) else { return .none }
        return switch compressedTier {
        case .never: .none
        case .whenSpillingFails: .fallback
        case .first: .first
        }
    }

    private static let keptEncoders = 2

    /// How many values there is room for in plans, growth in hand aside.
    var reservedValues: Int { storage.reservedValues }

    /// The process's resident bytes now.
    func residentBytes() -> Int { residentOverride?() ?? footprint.residentBytes() }
}
