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
        switch loader {
        case .blocking(let loader):
            BlockingPool.shared.submit {
                let admission = self.host?.admission
                let pass = admission?.admit(self.statistics.expectedFootprint, isLoaded: true)
                defer { if let pass { admission?.end(pass) } }
                self.end(slot, lifetimes) {
                    let (value, size) = try self.timed(loader)
                    if self.traits.alternate.load()?.takeMade() != true { put(value, size) }
                }
            }
        case .suspending(let loader):
            Task.detached(priority: .utility) {
                let admission = self.host?.admission
                let pass = try? await admission?.admitSuspending(self.statistics.expectedFootprint, isLoaded: true)
                defer { if let pass { admission?.end(pass) } }
                let clock = self.clock
                let start = clock.now()
                let made: Result<(Loaded<Value>, ValueSize), any Error>
                do {
                    let loaded = try await loader()
                    let duration = clock.now() - start
                    let size = await self.measure(loaded.value)
                    self.statistics.noteLoad(duration, footprint: size.footprint)
                    made = .success((loaded, size))
                } catch { made = .failure(error) }
                self.end(slot, lifetimes) {
                    let (loaded, size) = try made.get()
                    if loaded.variant == .full { put(loaded.value, size) }
                }
            }
        }
    }

    /// Ends what was begun. A failure counts and climbs as that of any load; readers go on with the old value.
    private func end(_ slot: Slot<Value>, _ lifetimes: Lifetimes, _ work: () throws -> Void) {
        var failure: (any Error)?
        do { try work() } catch { failure = error }
        lifetimes.endRefresh(slot.address, at: lifetimes.now(host), hasFailed: failure != nil)
        guard let failure else { return host?.didLoad(PressureResource(entry: self)) ?? () }
        guard !(failure is CancellationError) else { return }
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        climb(.load, failure)
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
