import PressureSignals
import PressureSystem

/// What one reclaim did: what it was asked for, what it claims to have freed, what the operating system got back, and
/// what it left alone and why.
public struct EvictionReport: Sendable {
    /// How a value left memory.
    public enum Outcome: String, Sendable, CaseIterable {
        /// Its copy was in the spill file already; releasing it was one free.
        case reused
        /// It was written to the spill file.
        case spilled
        /// It was compressed and stays in memory; what it claims is what that saved.
        case compressed
        /// It was dropped; its loader makes it again.
        case dropped
    }

    /// Why a value stayed in memory.
    public enum SkipReason: String, Sendable, CaseIterable {
        /// It was in use, or came into use while it was being copied.
        case pinned
        /// It was being loaded, restored or changed.
        case busy
        /// It could not be written, and there is no loader.
        case spillFailed
        /// Writing is suspended after earlier failures, and there is no loader.
        case spillSuspended
        /// Compressing it would not have freed a tenth of it, or the compressed tier is full; it can go nowhere else now.
        case notCompressible
        /// It was to go, but the deadline had passed.
        case deadline
        /// Its controller's delegate did not want it evicted now (`shouldEvict`).
        case vetoed
        /// The dispositions that it, its controller and the manager support leave it no way out of memory.
        case unsupported
    }

    /// The values of one cache that left memory in one way: one value of a ``LazyCache``, many of a ``KeyedCache``.
    public struct Evicted: Sendable {
        /// Which cache.
        public let resource: PressureResource
        /// Where it was in the tree of controllers.
        public let path: String
        /// How they left.
        public let outcome: Outcome
        /// How many values.
        public let count: Int
        /// The bytes claimed for them.
        public let bytes: ByteCount
        /// The bytes their copies take, in the spill file or compressed in memory, made by this reclaim; zero if none was.
        public let storedBytes: ByteCount
        /// From the first byte compressed to the last one checked, added up; zero if nothing was written.
        public let copyDuration: Duration
        /// Releasing the memory, hooks included, added up.
        public let releaseDuration: Duration
    }

    /// The values of one cache that stayed in memory for one reason.
    public struct Skipped: Sendable {
        /// Which cache.
        public let resource: PressureResource
        /// Where it is in the tree of controllers.
        public let path: String
        /// Why they stayed.
        public let reason: SkipReason
        /// How many values.
        public let count: Int
        /// The bytes that evicting them would have given back.
        public let bytes: ByteCount
    }

    /// The time spent in each phase.
    public struct Phases: Sendable, Hashable {
        /// Telling the manager's delegate, the events and the controllers.
        public var notify = Duration.zero
        /// Choosing what goes.
        public var plan = Duration.zero
        /// Releasing what needed no writing.
        public var release = Duration.zero
        /// Compressing, writing, checking and releasing the rest.
        public var spill = Duration.zero
        /// `malloc_trim`.
        public var trim = Duration.zero
    }

    /// What was expected when the victims were chosen, from what their caches had measured.
    public struct Prediction: Sendable, Hashable {
        /// What the victims would give back.
        public var bytes = ByteCount.zero
        /// Writing and releasing them on all workers, without telling anybody.
        public var duration = Duration.zero
        /// How long readers would wait, all together, for the victims that are wanted again before the next reclaim.
        public var futureCost = Duration.zero
    }

    /// Why memory was reclaimed.
    public var cause: PressureCause
    /// The bytes asked for; `nil` when a part or all of what is not in use was.
    public var goal: ByteCount?
    /// The bytes of the values that left memory.
    public var claimed = ByteCount.zero
    /// What was expected of the plan, beside ``claimed`` and ``Phases/release`` with ``Phases/spill``.
    public var predicted = Prediction()
    /// The fall of the process's resident memory, measured; negative if it grew meanwhile.
    public var returned = ByteCount.zero
    /// Bytes that counted as spilled to memory-backed storage, which frees nothing.
    public var heldInMemoryBackedStorage = ByteCount.zero
    /// Bytes of values that were compressed and stay in memory, after compressing; what was claimed is without them.
    public var heldInCompressedTier = ByteCount.zero
    /// Plain bytes that were compressed or written.
    public var copied = ByteCount.zero
    /// Bytes that those took in the spill file.
    public var stored = ByteCount.zero
    /// Whether `malloc_trim` was called, since resident memory had not followed.
    public var trimmed = false
    /// From the request to the end.
    public var duration = Duration.zero
    /// The same by phase.
    public var phases = Phases()
    /// Which reclaim of its manager it was, from 1: the same for all who asked for it. 0 where there was none.
    package var number = 0
    /// Whether the monitor asked for it, so that it learns from it when to ask again.
    package var isMonitored = false
    /// Heap allocations on the reclaim's threads from planning to the last release, where a probe counts them.
    package var allocations: Int?
    /// What left memory, by cache and way, in the order in which the first of each went.
    public var evicted: [Evicted] = []
    /// What stayed, by cache and reason.
    public var skipped: [Skipped] = []
    /// What failed: the last failure of each cache; then, without a path, that of a disk that failed after it had taken
    /// writes, if it did.
    public var failures: [PressureError] = []
    /// Values of caches that were registered while the reclaim ran, and are in no list.
    public var unlisted = 0
    /// Whose hooks took longer than a reclaim waits for them. It went on without their answers.
    public var unheard: [UnheardListener] = []

    package init(cause: PressureCause) { self.cause = cause }

    /// How many values left memory.
    public var evictedCount: Int { evicted.reduce(0) { $0 + $1.count } }

    /// `returned` over `claimed`; 1 when nothing was claimed.
    public var returnedOverClaimed: Double {
        claimed.bytes > 0 ? Double(returned.bytes) / Double(claimed.bytes) : 1
    }
}

extension EvictionReport: CustomStringConvertible {
    /// One line: `"freed 120.0 MiB (returned 119.2 MiB) of 3 values in 850 ms, 1 skipped; normal → warning: …"`.
    public var description: String {
        """
        freed \(claimed) (returned \(returned)) of \(evictedCount) values in \
        \(duration.nanoseconds / 1_000_000) ms, \(skipped.reduce(0) { $0 + $1.count }) skipped; \(cause)
        """
    }
}
