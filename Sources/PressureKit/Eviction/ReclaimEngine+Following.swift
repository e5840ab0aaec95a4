import CLinuxShims
import PressureSignals
import PressureSystem
import Synchronization

/// Following the limit on memory and the quota of processor time while the process runs: an orchestrator may change
/// either at any moment.
extension ReclaimEngine {
    /// What the sizes were last made for, and what they are made from.
    final class Followed: Sendable {
        /// How long a change of the quota may go unnoticed: as long as a move to another cgroup.
        static let patience = CgroupLocator.patience

        private let quota: ProcessorQuota
        private let processors: @Sendable () -> Int
        private let workers: Int?
        private let requests: Int
        fileprivate let bypassesPageCache: Bool?
        fileprivate let last = Lock<(reserves: Reserves?, isLimited: Bool, at: MonotonicInstant?, limit: ByteCount?)>(
            (nil, false, nil, nil)
        )

        init(_ options: EngineOptions, requests: Int) {
            self.requests = requests
            quota = ProcessorQuota(options.limits)
            processors = options.processors ?? { Int(pk_usable_cpus()) }
            workers = options.workers
            bypassesPageCache = options.bypassesPageCache
        }

        /// What a reclaim takes itself while it writes; 0 where no limit counts it.
        var writingBytes: Int { last.withLock { $0.isLimited ? $0.reserves?.writing ?? 0 : 0 } }

        /// Sizes for a limit, with the quota as it is now.
        func reserves(_ limit: ByteCount?) -> Reserves {
            Reserves(
                limit: limit,
                processors: processors(),
                quota: quota.least(),
                requests: requests,
                workers: workers
            )
        }
    }

    /// Tells of the limit on memory as it is now; with each sample. Allocates only when there are to be more workers than
    /// there have ever been.
    func follow(_ limit: ByteCount?) {
        let now = clock.now()
        let isDue = followed.last.withLock { last in
            if let at = last.at, last.limit == limit, now - at < Followed.patience { return false }
            last.at = now
            last.limit = limit
            return true
        }
        guard isDue else { return }
        if let limit { largeBlocks.follow(limit) }
        let reserves = followed.reserves(limit)
        let isNew = followed.last.withLock { last in
            let isNew = last.reserves != reserves || last.isLimited != (limit != nil)
            last.reserves = reserves
            last.isLimited = limit != nil
            return isNew
        }
        guard isNew else { return }
        if primary.server == nil {
            file.resize(
                window: reserves.window,
                writeback: reserves.writeback,
                bypassesPageCache: followed.bypassesPageCache ?? (limit != nil)
            )
        }
        pool.givesBack = limit != nil
        WarmPages.shared.follow(reserves)
        storage.bound(to: reserves.plannedValues)
        pool.resize(to: reserves.workers)
    }
}
