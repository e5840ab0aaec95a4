import PressureSystem
import Synchronization

/// What an async loader has made, and which of the cache's values it is.
struct Loaded<Value: Spillable>: Sendable {
    var value: Value
    var variant = CacheVariant.full
}

/// A loader that suspends.
typealias SuspendingLoader<Value: Spillable> = @Sendable () async throws -> Loaded<Value>

/// The slow path of a read in a cache whose loader suspends. Every load and restore is a task of its own, a ``Making``,
/// so that a reader who is cancelled leaves, and what it began goes on for the others.
extension ValueEntry {
    /// What a reader that found no resident value has to do.
    enum SuspendingTurn {
        /// The value is pinned after all.
        case pinned
        /// It has begun a making and is to start it.
        case begun(Making, since: UInt32)
        /// Somebody else has, and this reader is counted there.
        case joined(Making, since: UInt32)
        /// Somebody is at work who makes no value for readers: a writer, a save, an eviction.
        case busy(since: UInt32)
        /// There is none, and it wants only what there is.
        case missing
    }

    /// Takes the next step towards a pinned value; `nil` when the slot has just changed and is to be looked for again.
    /// In one step with the list of makings, or one might be missed by a reader who would not count.
    ///
    /// - Parameter begins: `either`, or `restores` for a reader who leaves loads alone.
    func suspendingTurn(_ slot: Slot<Value>, begins: Beginning = .either) -> SuspendingTurn? {
        let priority = Task.currentPriority
        return makings.withLock { makings in
            let arrival = unsafe slot.header.pointee.arrival.load(ordering: .relaxed)
            if let making = makings[slot.address], begins == .either || !making.isLoading,
                unsafe slot.header.pointee.apply({ $0.awaiting() }) != nil, making.join()
            {
                return .joined(making, since: arrival)
            }
            switch turn(slot, begins: begins) {
            case .pinned: return .pinned
            case .load: return begin(slot, isLoading: true, priority, &makings)
            case .restore: return begin(slot, isLoading: false, priority, &makings)
            case .wait(let arrival): return .busy(since: arrival)
            case .missing: return .missing
            case .away, nil: return nil
            }
        }
    }

    private func begin(
        _ slot: Slot<Value>,
        isLoading: Bool,
        _ priority: TaskPriority,
        _ makings: inout [UInt: Making]
    ) -> SuspendingTurn {
        let arrival = unsafe slot.header.pointee.arrival.load(ordering: .relaxed)
        let making = Making(makeLoad(slot, since: arrival), isLoading: isLoading, priority: priority)
        makings[slot.address] = making
        // The reader who begins it sleeps like the others.
        unsafe _ = slot.header.pointee.apply { $0.awaiting() }
        return .begun(making, since: arrival)
    }

    /// Pins a value, having it made by a task if need be. Suspends, and blocks no thread.
    ///
    /// - Throws: `CancellationError` as soon as the calling task is cancelled; the loader's own error, or
    ///   ``PressureError``.
    func acquire(
        from find: @Sendable () -> (slot: Slot<Value>, turn: SuspendingTurn?),
        _ loader: @escaping SuspendingLoader<Value>
    ) async throws -> Slot<Value> {
        guard let slot = try await acquireIfAny(from: { find() }, loader) else {
            preconditionFailure("a loader makes every value")
        }
        return slot
    }

    /// The same, also for readers who want only what there is.
    ///
    /// - Parameters:
    ///   - find: finds the slot and takes the next step there; `nil` when there is no slot.
    ///   - loader: `nil` for a reader who wants only what there is.
    /// - Returns: `nil` for such a reader, when there is none.
    func acquireIfAny(
        from find: @Sendable () -> (slot: Slot<Value>, turn: SuspendingTurn?)?,
        _ loader: SuspendingLoader<Value>?
    ) async throws -> Slot<Value>? {
        while true {
            try Task.checkCancellation()
            guard let (slot, turn) = find() else { return nil }
            switch turn {
            case .pinned: return slot
            case .missing: return nil
            case .begun(let making, let arrival):
                making.start { await self.make(making, in: slot, loader) }
                if try await wait(for: making, in: slot, since: arrival, loads: loader != nil) { return slot }
            case .joined(let making, let arrival):
                if try await wait(for: making, in: slot, since: arrival, loads: loader != nil) { return slot }
            case .busy(let arrival):
                let outcome = await ParkingLot.parkUnlessCancelled(on: slot.address) {
                    slot.isStillBusy(since: arrival)
                }
                try follow(outcome)
            case nil: await Task.yield()
            }
        }
    }

    /// Waits for a making in which this reader is counted. Returns whether the value is pinned for it; `false` when it is
    /// to look again.
    ///
    /// - Parameter loads: whether it has the value loaded if there is no other way.
    private func wait(
        for making: Making,
        in slot: Slot<Value>,
        since arrival: UInt32,
        loads: Bool
    ) async throws -> Bool {
        defer { leave(making, slot) }
        making.escalate(to: Task.currentPriority)
        let outcome = try await LoadWaits.wait(for: Load.Identity(slot: slot.address, arrival: arrival)) {
            await withTaskPriorityEscalationHandler {
                await ParkingLot.parkUnlessCancelled(on: slot.address) { slot.isStillBusy(since: arrival) }
            } onPriorityEscalated: { _, priority in
                making.escalate(to: priority)
            }
        }
        if case .cancelled = outcome { throw CancellationError() }
        while making.isEnding { await Task.yield() }
        switch making.ending {
        // Pinned by the making until all have left: no reclaim comes between.
        case .landed: return slot.pin()
        case .failed(let error): throw error
        case .unread(let error) where !loads: throw error
        case .unread, .replaced, nil: return false
        }
    }

    private func leave(_ making: Making, _ slot: Slot<Value>) {
        switch making.leave() {
        case .none: break
        case .unpin: release(slot)
        case .abandon:
            forget(making, slot)
            making.cancel()
            endUnwanted(slot)
        }
    }

    /// Ends a load that nobody waits for: nobody is told of it.
    private func endUnwanted(_ slot: Slot<Value>) {
        guard let step = unsafe slot.header.pointee.apply({ $0.failingLoad() }) else { return release(slot) }
        unsafe wake(slot.base, after: step.before)
        unsafe didDrop(slot.base)
    }

    private func forget(_ making: Making, _ slot: Slot<Value>) {
        makings.withLock { if $0[slot.address] === making { $0[slot.address] = nil } }
    }

    // MARK: The task

    /// Ends a making, unless it was abandoned: then the slot is somebody else's.
    private func claim(_ making: Making, _ slot: Slot<Value>) -> Bool {
        guard making.claim() else { return false }
        forget(making, slot)
        return true
    }

    private func make(_ making: Making, in slot: Slot<Value>, _ loader: SuspendingLoader<Value>?) async {
        let isRestored = making.isLoading ? false : await restore(making, in: slot, loads: loader != nil)
        if !isRestored, let loader { await load(making, in: slot, loader) }
        // Readers do so too before they go on; but they may all have been cancelled.
        await makeRoom()
    }

    private func load(_ making: Making, in slot: Slot<Value>, _ loader: SuspendingLoader<Value>) async {
        let admission = host?.admission
        do {
            let pass = try await admission?.admitSuspending(
                statistics.expectedFootprint,
                isLoaded: true,
                isNested: Load.isAround
            )
            defer { if let pass { admission?.end(pass) } }
            let (loaded, size, duration) = try await timed(loader)
            guard claim(making, slot) else { return }
            statistics.noteLoad(duration, footprint: size.footprint)
            land(making, in: slot) { putLoaded(loaded.value, size, loaded.variant, in: slot, settle: $0) }
        } catch {
            guard claim(making, slot) else { return }
            if !failLoad(slot, error, settle: { making.end(.failed(error)) }) { making.end(.replaced) }
        }
    }

    /// Reads the copy back, on a thread that may block. Returns whether that was all; `false` when the loader is to run.
    private func restore(_ making: Making, in slot: Slot<Value>, loads: Bool) async -> Bool {
        let admission = host?.admission
        do {
            let pass = try await admission?.admitSuspending(
                expectedOfRestore(slot),
                isLoaded: false,
                isNested: Load.isAround
            )
            defer { if let pass { admission?.end(pass) } }
            guard making.waiting > 0 else {
                // Who comes now looks again.
                _ = claim(making, slot)
                making.end(.replaced)
                endHolding(slot)
                return true
            }
            try await Load.job(on: .restores) {
                let value = try self.readBack(slot)
                _ = self.claim(making, slot)
                self.land(making, in: slot) { self.putRestored(value, in: slot, settle: $0) }
            }
            return true
        } catch {
            let failure = noteFailedRestore(slot, error)
            if loads, unsafe slot.header.pointee.apply({ $0.rebuilding() }) != nil {
                if making.beginLoading() { return false }
                forget(making, slot)
                endUnwanted(slot)
                return true
            }
            _ = claim(making, slot)
            let isReloadable = unsafe slot.header.pointee.state.isReloadable
            let ending: Making.Ending = isReloadable ? .unread(failure) : .failed(failure)
            if !failRestore(slot, failure, settle: { making.end(ending) }) { making.end(.replaced) }
            return true
        }
    }

    /// Puts a value in place by `put`, and leaves it pinned for those who wait.
    private func land(_ making: Making, in slot: Slot<Value>, by put: (_ settle: () -> Void) -> Bool) {
        var isAwaited = false
        guard put({ isAwaited = making.end(.landed) }) else {
            making.end(.replaced)
            return
        }
        if !isAwaited { release(slot) }
    }

    /// Asks a value for its size; on a thread of the library's if that makes its bytes.
    func measure(_ value: Value) async -> ValueSize {
        guard !Value.spillsInPlace, !Value.encodesWhenSpilled else { return ValueSize(value) }
        return (try? await Load.job(on: .restores) { ValueSize(value) }) ?? ValueSize(value)
    }
}
