import PressureSignals
import PressureSystem
import Synchronization

/// A manager at one moment.
public struct PressureSnapshot: Sendable {
    /// Bytes of values by where they are.
    public struct Tiers: Sendable, Hashable {
        /// In memory.
        public var resident = ByteCount.zero
        /// Of those, the ones that can go at once: a checked copy exists, or the loader makes them again in so
        /// little time that a copy is not worth its writing.
        public var clean = ByteCount.zero
        /// Compressed in memory, before compressing.
        public var compressed = ByteCount.zero
        /// In the spill file only, before compressing.
        public var spilled = ByteCount.zero

        /// The part of what is in memory that can go at once, 0 … 1; 1 when there is nothing.
        public var cleanFraction: Double {
            resident > .zero ? Double(clean.bytes) / Double(resident.bytes) : 1
        }

        static func += (left: inout Tiers, right: Tiers) {
            left.resident += right.resident
            left.clean += right.clean
            left.compressed += right.compressed
            left.spilled += right.spilled
        }
    }

    /// Bytes of values by where they are, and those in memory by facts that change only with the values: what is
    /// ``Tiers/clean`` follows from measured times, and changes with them too.
    package struct Standing: Sendable, Hashable {
        package var tiers = Tiers()
        /// In memory, with a checked copy.
        package var copied = ByteCount.zero
        /// In memory, without a copy; a loader makes them again.
        package var reloadable = ByteCount.zero

        static func += (left: inout Standing, right: Standing) {
            left.tiers += right.tiers
            left.copied += right.copied
            left.reloadable += right.reloadable
        }
    }

    /// What a limit is used for, in bytes; the sum is the limit.
    public struct Use: Sendable, Hashable {
        /// Values in memory.
        public let values: ByteCount
        /// What copies of values take in memory, compressed or on a file system in memory.
        public let copies: ByteCount
        /// Free in the process's heap, where the next values find it. Goes back to the system when memory is short, or after a
        /// second in which nobody takes it.
        public let heap: ByteCount
        /// Other memory of this process.
        public let process: ByteCount
        /// Other processes, the kernel's own memory, and page cache that does not go at once.
        public let others: ByteCount
        /// Page cache that goes when memory is short.
        public let pageCache: ByteCount
        /// Nothing.
        public let free: ByteCount

        init(_ headroom: Headroom, resident: ByteCount, values: ByteCount, copies: ByteCount, heap: ByteCount) {
            var rest = headroom.limit - headroom.available
            func take(_ bytes: ByteCount) -> ByteCount {
                let taken = min(max(.zero, bytes), rest)
                rest -= taken
                return taken
            }
            self.values = take(values)
            self.copies = take(copies)
            let own = max(.zero, resident - values - copies)
            self.heap = take(min(heap, own))
            process = take(own - self.heap)
            others = rest
            pageCache = headroom.pageCache
            free = headroom.available - headroom.pageCache
        }
    }

    /// The other processes that share the limit: of the same user, with a manager too.
    public struct Neighbours: Sendable, Hashable {
        /// How many there are.
        public let count: Int
        /// Bytes of values that they hold.
        public let held: ByteCount
        /// Bytes of values that this process may hold, of what all of them hold now.
        public let budget: ByteCount
    }

    /// A cache.
    public struct Cache: Sendable {
        /// Where it is in the tree of controllers.
        public let path: String
        /// Where its value is.
        public let residency: Residency
        /// The bytes that evicting its value gives back, or gave back.
        public let byteCount: ByteCount
        /// The bytes of its values by tier.
        public let tiers: Tiers
        /// How many accesses and leases hold it.
        public let pins: Int
        /// Whether a checked copy is in the spill file.
        public let hasCopy: Bool
        /// How often its loader ran to the end.
        public let loads: Int
        /// How often its value was read back.
        public let restores: Int
        /// How often its value left memory.
        public let evictions: Int
        /// How often its value came back sooner than the reclaim that took it had expected: evictions that were wrong.
        public let refaults: Int
        /// How often a load, spill or restore failed.
        public let failures: Int

        /// The part of the evictions that were wrong, 0 … 1; 0 without evictions.
        public var refaultRate: Double { evictions > 0 ? Double(refaults) / Double(evictions) : 0 }
    }

    /// A controller with its own caches.
    public struct Controller: Sendable {
        /// Where it is in the tree; empty for the root.
        public let path: String
        /// Whether it is visible.
        public let isVisible: Bool
        /// Its caches, in the order in which they were registered.
        public let caches: [Cache]
    }

    /// The level the monitor has reached; `normal` while it does not run.
    public let level: PressureLevel
    /// How bad it was at the last sample: 0 is no pressure, 1 no memory left.
    public let score: Double
    /// The bytes left of the limit that binds most, at the last sample; `nil` before the first.
    public let available: ByteCount?
    /// What the caches could give back at once beside that, with what is free in the heap. The level goes by the sum: neither a
    /// full cache is a shortage, nor one that was just emptied.
    public let reclaimable: ByteCount?
    /// That limit.
    public let limit: ByteCount?
    /// What that limit is used for; `nil` before the first sample.
    public let use: Use?
    /// Who shares that limit; `nil` where the process is alone below it. See ``PressureConfiguration/share``.
    public let neighbours: Neighbours?
    /// What each pressure signal can do here, and if nothing, why.
    public let signals: [SignalStatus]
    /// How loads and restores were let in, or had to wait for memory.
    public let admission: AdmissionCounts
    /// All controllers, parents before children.
    public let controllers: [Controller]
    /// The process's resident memory.
    public let processResident: ByteCount
    /// The plain bytes of the values whose copies are in the spill file.
    public let copied: ByteCount
    /// The bytes those copies take in the spill file.
    public let stored: ByteCount
    /// The blocks of the spill file on disk; `nil` if the system would not say.
    public let spillFile: ByteCount?
    /// The bytes that copies take on the server behind the disk; zero without one. They are no part of ``stored``.
    public let demoted: ByteCount
    /// The bytes that compressed values take in memory.
    public let compressedInMemory: ByteCount
    /// Plain bytes of copies that were written ahead, in idle time, since the manager was made.
    public let copiedAhead: ByteCount

    /// The bytes of all values by where they are.
    public var tiers: Tiers {
        var sum = Tiers()
        for controller in controllers {
            for cache in controller.caches { sum += cache.tiers }
        }
        return sum
    }

    /// The bytes of all values in memory.
    public var resident: ByteCount { tiers.resident }

    /// The bytes of all values that are in the spill file only.
    public var spilled: ByteCount { tiers.spilled }

    /// The part of what is in memory that a warning could free at once, 0 … 1.
    public var cleanFraction: Double { tiers.cleanFraction }

    /// The part of all evictions whose values came back sooner than expected, 0 … 1; 0 without evictions. Much more than
    /// a few per cent says that the caches are too large for the memory there is, or the order does not fit their use.
    public var refaultRate: Double {
        var (evictions, refaults) = (0, 0)
        for cache in controllers.lazy.flatMap(\.caches) {
            evictions += cache.evictions
            refaults += cache.refaults
        }
        return evictions > 0 ? Double(refaults) / Double(evictions) : 0
    }

}

extension CacheEntry {
    /// The bytes of its values by where they are.
    var tiers: PressureSnapshot.Tiers { standing.tiers }

    /// The same, and how they could go.
    var standing: PressureSnapshot.Standing {
        var standing = PressureSnapshot.Standing()
        unsafe forEachSlot { slot in
            let word = unsafe header(slot).pointee.state
            let footprint = unsafe ByteCount(bytes: header(slot).pointee.footprint.load(ordering: .relaxed))
            switch word.residency {
            case .resident:
                standing.tiers.resident += footprint
                if unsafe !wayOut(slot, word).needsCopy { standing.tiers.clean += footprint }
                if word.isClean {
                    standing.copied += footprint
                } else if word.isReloadable {
                    standing.reloadable += footprint
                }
            case .compressed: standing.tiers.compressed += footprint
            case .spilled: standing.tiers.spilled += footprint
            case .unloaded, .loading, .restoring: break
            }
        }
        return standing
    }
}

extension PressureController {
    /// This controller and all below it, for a snapshot.
    func describe(into controllers: inout [PressureSnapshot.Controller]) {
        let (entries, isVisible, children) = state.withLock { ($0.entries, $0.isSeen, $0.below) }
        let caches = entries.map { entry in
            PressureSnapshot.Cache(
                path: entry.path,
                residency: entry.residency,
                byteCount: ByteCount(bytes: entry.footprint),
                tiers: entry.tiers,
                pins: entry.pins,
                hasCopy: entry.hasCopy,
                loads: entry.statistics.loads.load(ordering: .relaxed),
                restores: entry.statistics.restores.load(ordering: .relaxed),
                evictions: entry.statistics.evictions.load(ordering: .relaxed),
                refaults: entry.statistics.refaults.load(ordering: .relaxed),
                failures: entry.statistics.failures.load(ordering: .relaxed)
            )
        }
        controllers.append(PressureSnapshot.Controller(path: path, isVisible: isVisible, caches: caches))
        for child in children { child.describe(into: &controllers) }
    }
}
