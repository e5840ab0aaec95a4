import PressureSystem
import Synchronization

/// Loading a value anew while its readers have the old one.
extension ValueEntry {
    /// A loader of either kind, for one value.
    enum Refresher: Sendable {
        case blocking(@Sendable () throws -> Value)
        case suspending(SuspendingLoader<Value>)
    }

    /// Has a slot's value loaded anew, on a thread of the library's or in a task, and passes what comes to `put`, which takes
    /// it only in place of the value that there is now. Returns at once. Does nothing for a value that no loader made, while
    /// memory is short, and while enough is being loaded anew.
    func refresh(
        _ slot: Slot<Value>,
        at now: UInt32,
        _ loader: Refresher,
        put: @escaping @Sendable (_ value: consuming Value, _ size: ValueSize) -> Void
    ) {
        guard let lifetimes, unsafe slot.header.pointee.state.isReloadable, host?.isShort != true,
            lifetimes.beginRefresh(slot.address, at: now)
        else { return }
        // Whoever found it due may have been late: then it has just been loaded anew.
        guard unsafe isDue(slot.base, at: now) else {
            return lifetimes.endRefresh(slot.address, at: now, hasFailed: false)
        }
        Task.detached(priority: .utility) {
            var failure: (any Error)?
            do {
                switch loader {
                case .blocking(let loader): try await self.refresh(loader, put)
                case .suspending(let loader): try await self.refresh(loader, put)
                }
            } catch { failure = error }
            lifetimes.endRefresh(slot.address, at: lifetimes.now(self.host), hasFailed: failure != nil)
            self.note(failure)
            await self.makeRoom()
        }
    }

    private func refresh(
        _ loader: @escaping @Sendable () throws -> Value,
        _ put: @escaping @Sendable (_ value: consuming Value, _ size: ValueSize) -> Void
    ) async throws {
        try await Load.job(on: .loads, stuck: tellOfStuckLoaders) {
            try self.admitted(self.statistics.expectedFootprint, isLoaded: true) {
                let (value, size) = try self.timed(loader)
                // A lighter one is worse than what there is.
                if self.traits.alternate.load()?.takeMade() != true { put(value, size) }
            }
        }
    }

    private func refresh(
        _ loader: SuspendingLoader<Value>,
        _ put: (_ value: consuming Value, _ size: ValueSize) -> Void
    ) async throws {
        let admission = host?.admission
        let pass = try await admission?.admitSuspending(statistics.expectedFootprint, isLoaded: true)
        defer { if let pass { admission?.end(pass) } }
        let (loaded, size, duration) = try await timed(loader)
        statistics.noteLoad(duration, footprint: size.footprint)
        if loaded.variant == .full { put(loaded.value, size) }
    }

    /// A failure counts and climbs as that of any load, while readers go on with the old value.
    private func note(_ failure: (any Error)?) {
        guard let failure else { return host?.didLoad(PressureResource(entry: self)) ?? () }
        guard !(failure is CancellationError) else { return }
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        climb(.load, failure)
    }

    /// Runs a loader that suspends. Notes nothing yet: nobody may want what it brings any more.
    func timed(_ loader: SuspendingLoader<Value>) async throws -> (Loaded<Value>, ValueSize, Duration) {
        let clock = clock
        let start = clock.now()
        let loaded = try await loader()
        let duration = clock.now() - start
        return (loaded, await measure(loaded.value), duration)
    }

    /// Runs a loader, and notes what it took.
    func timed(_ loader: () throws -> Value) rethrows -> (value: Value, size: ValueSize) {
        let clock = clock
        let start = clock.now()
        let value = try loader()
        let duration = clock.now() - start
        // The app's code too.
        let size = ValueSize(value)
        statistics.noteLoad(duration, footprint: size.footprint)
        return (value, size)
    }
}
