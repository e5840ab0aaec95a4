import PressureSystem
import Synchronization

extension PressureManager {
    /// How many threads may run loaders at a time for readers who `await` caches whose loaders do not suspend: 64, for all
    /// managers of the process, since a cache loads without a manager too.
    ///
    /// There are as many as the process has processors, or 4, and more only while loaders hold all of them. A loader that
    /// waits for a server holds its thread meanwhile; more than so many of those at a time are had by raising this, or,
    /// better, by an `await` in the loader, which then holds no thread. Loaders that are called without `await` run on
    /// their caller's thread, and restores have threads of their own.
    ///
    /// What loaders themselves ask for with `await` runs on other threads, up to eight times as many, so that loaders which
    /// wait for other caches never wait for each other's threads. When nothing could be begun for five seconds, with as
    /// many threads as there may be, the log says `loaders hold all threads`.
    ///
    /// May be set at any time, to 1 at least; threads that there are end when they have been idle for some seconds.
    public static var loaderThreads: Int {
        get { PoolLanes.loaderThreads.load(ordering: .relaxed) }
        set { PoolLanes.loaderThreads.store(max(1, newValue), ordering: .relaxed) }
    }
}
