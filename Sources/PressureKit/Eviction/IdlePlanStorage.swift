import PressureSystem
import Synchronization

/// The storage for plans between two reclaims, and how much the next one needs.
///
/// Readers say with each new value how many there are. They take no lock for it while the storage is large enough, which it
/// mostly is, as it doubles: one who held it and got no processor would keep memory from being freed.
final class IdlePlanStorage: Sendable {
    private let idle: Lock<PlanStorage?>
    private let values = Atomic<Int>(0)
    private let caches = Atomic<Int>(0)
    /// How many candidates the storage may hold.
    private let bound = Atomic<Int>(.max)
    /// For how many values the storage was large enough when it was last here…
    private let enoughValues = Atomic<Int>(0)
    /// …and of how many caches.
    private let enoughCaches = Atomic<Int>(0)

    init(_ storage: sending PlanStorage) { idle = Lock(storage) }

    /// How many values there are to be room for, growth in hand aside.
    var reservedValues: Int { values.load(ordering: .relaxed) }

    /// Makes room for so many values of so many caches, now or when the storage comes back. Allocates; from any thread.
    func reserve(values: Int, caches: Int) {
        self.values.max(values, ordering: .sequentiallyConsistent)
        self.caches.max(caches, ordering: .sequentiallyConsistent)
        let isEnough =
            values <= enoughValues.load(ordering: .sequentiallyConsistent)
            && caches <= enoughCaches.load(ordering: .sequentiallyConsistent)
        guard !isEnough else { return }
        idle.withLock { $0.map(makeRoom) }
    }

    /// Has the storage hold so many candidates at most, now or when it comes back. Allocates.
    func bound(to candidates: Int) {
        guard bound.exchange(candidates, ordering: .sequentiallyConsistent) != candidates else { return }
        idle.withLock { $0.map(makeRoom) }
    }

    /// Takes the storage out, for one reclaim; `nil` if it is.
    func take() -> PlanStorage? { idle.withLock { $0.take() } }

    /// Puts it back, with room for what was registered meanwhile. Allocates then.
    func putBack(_ storage: PlanStorage) {
        storage.clear()
        idle.withLock { idle in
            makeRoom(storage)
            idle = storage
        }
    }

    private func makeRoom(_ storage: PlanStorage) {
        storage.bound(to: bound.load(ordering: .sequentiallyConsistent))
        let caches = caches.load(ordering: .sequentiallyConsistent)
        storage.reserve(values: values.load(ordering: .sequentiallyConsistent), caches: caches)
        enoughValues.store(storage.mostValues, ordering: .sequentiallyConsistent)
        enoughCaches.store(caches, ordering: .sequentiallyConsistent)
    }
}
