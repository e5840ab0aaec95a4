import CLinuxShims
import Synchronization

/// Carries a plan out: releases what is free to release, has the rest copied, and measures what came back.
///
/// All but ``reserve(entries:)`` runs on the relief thread, so one relief at a time.
final class ReliefEngine: Sendable {
    let file: SegmentFile
    let isMemoryBacked: Bool
    let policy: any EvictionPolicy
    let workers: Int
    let clock: any MonotonicClock
    let footprint: ProcessFootprint
    let crew: CopyCrew
    let probe: AllocationProbe
    let isProbed: Bool
    let backoff = Lock(SpillBackoff())
    let history = Lock(PlanHistory(start: UseClock.now))
    /// For ``spill(_:_:)``; those of reliefs are the crew's.
    let encoders = Lock<[ChunkEncoder]>([])
    /// Taken out while a relief runs; what was registered meanwhile is made room for when it comes back.
    let storage = Lock<(idle: PlanStorage?, wanted: Int)>((PlanStorage(), 0))

    /// Opens the spill file and reserves what reliefs will need. Blocks briefly.
    init(_ configuration: PressureConfiguration) throws(PressureError) {
        let directory = try SpillDirectory.choose(
            option: configuration.spillDirectory,
            environment: configuration.environment ?? ProcessEnvironment.variables,
            fileSystem: configuration.fileSystem,
            allowsRAM: configuration.allowsMemoryBackedSpill
        )
        file = try SegmentFile(
            directory: directory,
            fileSystem: configuration.fileSystem,
            limits: SpillLimits(
                maximumBytes: configuration.spillLimit,
                freeSpaceFloor: configuration.freeSpaceFloor,
                bypassPageCache: configuration.bypassesPageCache
            )
        )
        isMemoryBacked = directory.isMemoryBacked
        policy = configuration.policy ?? configuration.evictionOrder.policy
        workers = configuration.workers ?? Int(pk_usable_cpus())
        clock = configuration.clock
        probe = configuration.allocationProbe ?? { 0 }
        isProbed = configuration.allocationProbe != nil
        footprint = try ProcessFootprint()
        crew = try CopyCrew(
            workers: workers,
            file: file,
            compression: configuration.compression,
            clock: configuration.clock,
            probe: configuration.allocationProbe ?? { 0 }
        )
    }

    /// Evicts two small values of its own, so that what the Swift runtime builds on first use is there before memory is
    /// short.
    func rehearse() {
        let root = PressureController("rehearsal")
        _ = root.cache("written", initialValue: [UInt8](repeating: 1, count: 64))
        let dropped = root.cache("dropped") { [UInt8](repeating: 2, count: 64) }
        try? dropped.loadIfNeeded()
        reserve(entries: 2)
        var progress = begin()
        round(&progress, root: root, amount: .everything)
        var report = EvictionReport(
            cause: PressureCause(origin: .request, source: "rehearsal", levelBefore: .normal, levelAfter: .normal)
        )
        end(&progress, report: &report)
        history.withLock { $0 = PlanHistory(start: UseClock.now) }
    }

    /// Makes room for plans over `count` caches. Allocates; from any thread.
    func reserve(entries count: Int) {
        storage.withLock { storage in
            storage.wanted = max(storage.wanted, count)
            storage.idle?.reserve(storage.wanted)
        }
    }

    /// Whether writing may be tried now.
    var canSpill: Bool {
        let now = clock.now()
        return backoff.withLock { $0.allowsWriting(at: now) }
    }

    /// Writes one value's copy on the calling thread, outside any relief: how a cache keeps to its own limit. Blocks;
    /// allocates. Returns whether the value has a copy now.
    func spill(_ entry: CacheEntry, _ slot: UnsafeMutableRawPointer) -> Bool {
        guard unsafe entry.beginCopy(slot, in: file) else { return false }
        guard let encoder = encoders.withLock({ $0.popLast() }) ?? (try? ChunkEncoder()) else {
            unsafe entry.finishCopy(slot, succeeded: false)
            return false
        }
        let chunks = unsafe max(1, SegmentFile.chunkCount(forByteCount: entry.plainByteCount(slot)))
        let failure = unsafe crew.copy(0..<chunks, of: entry, slot, with: encoder)
        unsafe entry.finishCopy(slot, succeeded: failure == nil)
        encoders.withLock { if $0.count < Self.keptEncoders { $0.append(encoder) } }
        let now = clock.now()
        backoff.withLock { backoff in
            if let failure {
                // A value that cannot be encoded says nothing about the disk.
                if failure != .valueNotPassed { backoff.noteFailure(isDiskFull: failure.isDiskFull, at: now) }
            } else {
                backoff.noteSuccess()
            }
        }
        return failure == nil
    }

    private static let keptEncoders = 2

    /// How many caches there is room for in plans, growth in hand aside.
    var reservedEntries: Int { storage.withLock { $0.wanted } }

    /// The process's resident bytes now.
    func residentBytes() -> Int { footprint.residentBytes() }
}
