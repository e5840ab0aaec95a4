import PressureSignals
import PressureSystem
import SpillStore

/// How a manager watches, and where and how it spills. Every value has a default that is meant to be kept.
public struct PressureConfiguration: Sendable {
    /// The signals to watch once ``PressureManager/run()`` is called.
    public var sources: [PressureSource] = [.automatic]

    /// When a level is entered and left.
    public var thresholds = PressureThresholds()

    /// The directory of the spill file. `nil`: `$TMPDIR` if it is set and on a disk, else `/var/tmp`.
    public var spillDirectory: String?

    /// Whether to spill to a directory that is itself in memory (tmpfs, ramfs, zram). Compression is all that is gained
    /// then, and reports say so. The default is to refuse.
    public var allowsMemoryBackedSpill = false

    /// The size the spill file never grows past; `nil` for no limit of its own. At the limit values stay in memory.
    public var spillLimit: ByteCount?

    /// Space left free on the disk for everybody else.
    public var freeSpaceFloor: ByteCount = .mebibytes(256)

    /// Whether values may be compressed and stay in memory. By default up to 256 MiB, and only what can be
    /// spilled nowhere: it would stay as it is otherwise, so the bound is for the processor and not for memory.
    public var compressedTier = CompressedTier.whenSpillingFails(upTo: .mebibytes(256))

    /// Threads that compress and write during a reclaim, with about 600 KiB of scratch each while they do. `nil` for one a
    /// core that the process may use, by affinity and cgroup quota, and one for each 16 MiB of a cgroup's limit at most;
    /// that follows when either changes. Where values go to a server and no disk, one for each of its connections, if
    /// that is more.
    public var workers: Int?

    /// Whether a reclaim may write values as they are, where the disk is faster than the codec, so that memory is free
    /// sooner. They are compressed in idle time, while ``PressureManager/run()`` runs. Until then they take more of the
    /// disk.
    public var compressesLater = true

    /// Whether the copies of values that have not been used for a while are written ahead, in idle time and on idle
    /// processors, so that a warning only has to free them. While ``PressureManager/run()`` runs.
    public var copiesAhead = true

    /// The most plain bytes a second that are copied ahead.
    public var copyAheadRate: ByteCount = .mebibytes(32)

    /// Whether what a controller holds begins to be restored when it appears, as long as memory is not short.
    public var restoresAhead = true

    /// The part of what could be evicted that one warning frees when its signal names no number of bytes, and the most that
    /// one of the system's frees when it does: what lasts is asked for again. A critical warning without a number frees all
    /// that is not in use, and one with a number so much.
    ///
    /// The default is a quarter, so that a warning is felt, and three more can follow before nothing is left.
    public var warningShare = 0.25

    /// In which order values leave memory.
    public var evictionOrder = EvictionOrder.costAware

    /// What may become of values when memory is short, whatever their caches and controllers support.
    public var supportedDispositions = Disposition.all

    /// Whether what is spilled goes to the disk and out of the page cache at once. By default it does where a cgroup
    /// limits the process's memory, since the limit counts the page cache too: there it is the only way that spilling
    /// frees anything, and measured to be 4 to 6 times as fast. Elsewhere the page cache is a second chance for free.
    public var bypassesPageCache: Bool?

    /// Whether the manager can be spoken to from outside the process while it runs, by `pressuresim` and its like. By
    /// default it cannot, unless the environment variable `PRESSUREKIT_CONTROL` is set.
    public var control = ControlSocket.environment

    /// How the process shares a memory limit with others of its user that have a manager.
    public var share = MemoryShare()

    #if Metrics
    /// The handles of swift-metrics that are told what the manager does; by default none.
    public var metrics: PressureMetrics?
    #endif

    #if Redis
    /// A server behind the disk, or in its place where no directory can be used; then ``freeSpaceFloor`` and
    /// ``bypassesPageCache`` mean nothing, and ``spillLimit`` bounds what is there. `nil`, the default, for a spill file on a disk
    /// and nothing else. Only with the package trait `Redis`.
    ///
    /// The manager connects when it is made, which blocks, and throws ``PressureError`` with code `serverUnusable` when it
    /// cannot: a spill that cannot work fails then and not when memory is short. What fails later is tried again.
    public var remote: RemoteSpill?
    #endif

    #if Encryption
    /// Whether what is spilled is sealed with AES-256-GCM, under a key that is made for the spill file and is nowhere but in
    /// this process's memory. States saved with ``PressureManager/saveState(to:version:)`` are not: no key outlives the
    /// process. Only with the package trait `Encryption`, and then by default.
    public var encryptsSpills = true
    #endif

    package var fileSystem: any NamedFileSystem = LinuxFileSystem()
    /// What stands for a server behind the disk.
    package var behindDisk: RemoteOptions?
    /// Where every time comes from: of reclaims, loads, restores and codecs, of back-off, pacing and the monitor.
    package var clock: any MonotonicClock = SystemClock()
    /// Whether one thing is done at a time, in an order that does not depend on how threads are scheduled: one worker,
    /// restores in turn, and what would go on beside the caller waits for ``PressureManager/driveDeferredWork()``. With a
    /// clock that stands still unless it is moved, the same calls then come to the same end, whatever the machine.
    package var isSequential = false
    /// In place of the process's resident memory, by which what came back is measured. Allocates nothing.
    package var residentBytes: (@Sendable () -> Int)?
    /// In place of the process's own.
    var heap: FreeHeap?
    /// In place of what the kernel says of how busy the machine is.
    package var busyReading: (@Sendable (MonotonicInstant) -> BusyReading)?
    package var observer = ManagerObserver()
    /// In place of ``evictionOrder``: an order that is only compared with.
    package var policy: (any EvictionPolicy)?
    package var plannedValues = PlanStorage.mostCandidates
    /// In place of what is decided by measurement.
    package var compression: CompressionChoice?
    package var environment: [String: String]?
    package var allocationProbe: AllocationProbe?
    /// Where limits on memory and processor time are looked for.
    package var limits = SignalContext()
    /// Where processes below one limit meet; in files unless it is said.
    package var boards: Neighbours.Opening?
    /// In place of the processors that the process may run on.
    package var processors: (@Sendable () -> Int)?

    /// The default configuration.
    public init() {}

    /// - Throws: ``PressureError`` with `invalidConfiguration` that names the value and what is allowed.
    func validate() throws(PressureError) {
        try thresholds.validate()
        try share.validate()
        #if Redis
        try remote?.validate()
        #endif
        func check(_ holds: Bool, _ message: @autoclosure () -> String) throws(PressureError) {
            guard holds else { throw PressureError(code: .invalidConfiguration, message: message()) }
        }
        try check(
            workers.map { 1...256 ~= $0 } ?? true,
            "workers is \(workers ?? 0); it must be between 1 and 256, or nil for one a core."
        )
        try check(
            warningShare > 0 && warningShare <= 1,
            "warningShare is \(warningShare); it must be more than 0 and at most 1."
        )
        try check(
            spillLimit.map { $0 >= .zero } ?? true,
            "spillLimit is negative (\(spillLimit ?? .zero)); use nil for no limit."
        )
        try check(
            compressedTier.limit >= .zero,
            "compressedTier has a negative limit (\(compressedTier.limit)); use .never for none."
        )
        try check(copyAheadRate > .zero, "copyAheadRate is \(copyAheadRate); it must be more than zero.")
        try check(
            !supportedDispositions.isEmpty,
            "supportedDispositions is empty; it needs at least one of keep, compress, spill and drop."
        )
        try check(freeSpaceFloor >= .zero, "freeSpaceFloor is negative (\(freeSpaceFloor)); use zero for none.")
    }

    /// A cipher for one spill file; `nil` for none.
    var cipher: SpillCipher? {
        #if Encryption
        encryptsSpills ? SpillCipher() : nil
        #else
        nil
        #endif
    }

    /// Who shares limits with the process; `nil` for nobody.
    func neighbours(_ process: ProcessMemory, books: MemoryBooks) -> Neighbours? {
        // Runs that are to be repeated meet nobody by chance.
        guard share.isShared, !isSequential || boards != nil else { return nil }
        var context = SignalContext()
        context.root = limits.root
        context.environment = environment ?? ProcessEnvironment.variables("XDG_RUNTIME_DIR")
        return Neighbours(
            share: share,
            thresholds: thresholds,
            books: books,
            process: process,
            open: boards ?? Neighbours.files(context)
        )
    }

    /// What the sources are opened with.
    func signalContext(engine: ReclaimEngine) -> SignalContext {
        var context = SignalContext()
        context.environment = environment
        context.thresholds = thresholds
        context.limited = { [weak engine] in engine?.follow($0) }
        context.watchesAfter = .milliseconds(500)
        if engine.isMemoryBacked {
            let file = engine.file
            context.heldOutside = { ByteCount(bytes: file.usage().storedBytes) }
        }
        return context
    }
}
