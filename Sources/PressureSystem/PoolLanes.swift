import CLinuxShims
package import Synchronization

/// Pools for jobs that wait for each other: one pool, or lane, for what nobody waits for who holds a thread, and one for
/// each step deeper, so that a job only ever waits for jobs that have other threads.
///
/// Jobs that join what others have begun may wait for a lane that is not deeper. There the lanes below the first one grow
/// on, past what the first may have.
package final class PoolLanes: Sendable {
    /// For loaders: what they wait for is theirs to know.
    package static let loads = PoolLanes("pk-load") { loaderThreads.load(ordering: .relaxed) }
    /// For restores and for keeping to limits, which wait for the disk only.
    package static let restores = PoolLanes("pk-restore") { 64 }

    /// The most threads of the first lane of ``loads``.
    package static let loaderThreads = Atomic<Int>(64)
    /// As many times as many are there at most in each lane after that.
    package static let growth = 8

    private let name: String
    private let most: @Sendable () -> Int
    private let lanes = Lock<[BlockingPool]>([])

    private init(_ name: String, most: @escaping @Sendable () -> Int) {
        self.name = name
        self.most = most
    }

    /// The pool of a lane; its threads start when they are first needed.
    package subscript(lane: Int) -> BlockingPool {
        lanes.withLock { lanes in
            while lanes.count <= lane {
                let factor = lanes.isEmpty ? 1 : Self.growth
                let width = max(4, Int(pk_usable_cpus()))
                lanes.append(BlockingPool(threads: width, most: factor * self.most(), name: name))
            }
            return lanes[lane]
        }
    }
}
