import CLinuxShims
import Glibc
import Synchronization

/// The slow path of a read: load, restore, or wait for the thread that does.
extension ValueEntry {
    /// What a reader that found no resident value has to do.
    enum Turn {
        /// The value is pinned after all.
        case pinned
        /// It is this reader's turn to make the value.
        case load, restore
        /// Somebody else is at work.
        case wait
    }

    /// Takes the next step towards a pinned value; `nil` when the slot has just changed and is to be looked for again.
    func turn(_ slot: Slot<Value>) -> Turn? {
        if slot.pin() { return .pinned }
        if unsafe slot.header.pointee.apply({ $0.beginningLoad() }) != nil { return .load }
        if unsafe slot.header.pointee.apply({ $0.beginningRestore() }) != nil { return .restore }
        if unsafe slot.header.pointee.apply({ $0.awaiting() }) != nil { return .wait }
        return nil  // It has just changed, or been replaced: look again.
    }

    /// Pins a value, making it or waiting for it. Blocks.
    ///
    /// - Parameters:
    ///   - find: finds the slot that readers find now, which may be another one after a wait, and takes this reader's
    ///     turn there.
    ///   - loader: makes the value; `nil` if nothing can.
    func acquire(
        from find: () -> (slot: Slot<Value>, turn: Turn?),
        loader: (() throws -> Value)?
    ) throws -> Slot<Value> {
        while true {
            let (slot, turn) = find()
            switch turn {
            case .pinned: return slot
            case .load: if try load(slot, loader) { return slot }
            case .restore: if try restore(slot, loader) { return slot }
            case .wait:
                try refuseToWaitForMyself(slot)
                try follow(ParkingLot.park(on: slot.address) { unsafe slot.header.pointee.state.hasWaiters })
            case nil: sched_yield()
            }
        }
    }

    /// The same without ever blocking the calling thread: what blocks runs on the ``BlockingPool``.
    func acquireSuspending(
        from find: () -> (slot: Slot<Value>, turn: Turn?),
        loader: (@Sendable () throws -> Value)?
    ) async throws -> Slot<Value> {
        while true {
            let (slot, turn) = find()
            switch turn {
            case .pinned: return slot
            case .load: if try await BlockingPool.shared.run({ try self.load(slot, loader) }) { return slot }
            case .restore: if try await BlockingPool.shared.run({ try self.restore(slot, loader) }) { return slot }
            case .wait:
                try refuseToWaitForMyself(slot)
                try follow(await ParkingLot.park(on: slot.address) { unsafe slot.header.pointee.state.hasWaiters })
            case nil: await Task.yield()
            }
        }
    }

    private func follow(_ outcome: ParkingLot.Outcome) throws {
        if case .failed(let error) = outcome { throw error }
    }

    /// A loader that reads its own cache would wait for itself.
    private func refuseToWaitForMyself(_ slot: Slot<Value>) throws {
        guard unsafe slot.header.pointee.maker.load(ordering: .relaxed) == .currentThread else { return }
        throw PressureError.recursiveAccess(path: unsafe path(of: slot.base))
    }

    // MARK: Making the value

    /// Runs the loader in a slot whose load has begun. Returns whether the value is in place, pinned once;
    /// `false` when the slot was replaced meanwhile, so that there is a newer value to read.
    private func load(_ slot: Slot<Value>, _ loader: (() throws -> Value)?) throws -> Bool {
        let value: Value
        do {
            guard let loader else { throw PressureError.noValue(path: unsafe path(of: slot.base)) }
            let start = SystemClock().now()
            value = try working(in: slot) { try loader() }
            statistics.noteLoad(SystemClock().now() - start)
        } catch {
            statistics.failures.wrappingAdd(1, ordering: .relaxed)
            if let step = unsafe slot.header.pointee.apply({ $0.failingLoad() }) {
                unsafe wake(slot.base, after: step.before, outcome: .failed(error))
                unsafe didDrop(slot.base)
            } else {
                release(slot)
            }
            throw error
        }
        describe(value, in: slot)
        unsafe slot.value.initialize(to: value)
        noteArrival(unsafe slot.header.pointee.footprint.load(ordering: .relaxed))
        let (stamp, horizon) = (UseClock.tick(), refaultHorizon)
        guard let step = unsafe slot.header.pointee.apply({ $0.finishingLoad(stamp: stamp, horizon: horizon) }) else {
            unsafe slot.value.deinitialize(count: 1)
            noteArrival(unsafe -slot.header.pointee.footprint.load(ordering: .relaxed))
            release(slot)
            return false
        }
        unsafe didArrive(in: slot.base, step.after)
        unsafe wake(slot.base, after: step.before)
        controller?.delegate?.resourceDidLoad(PressureResource(entry: self))
        return true
    }

    /// Runs `work` while the slot names this thread as its maker.
    private func working<Result>(in slot: Slot<Value>, _ work: () throws -> Result) rethrows -> Result {
        unsafe slot.header.pointee.maker.store(.currentThread, ordering: .relaxed)
        defer { unsafe slot.header.pointee.maker.store(0, ordering: .relaxed) }
        return try work()
    }

    /// Reads the copy back in a slot whose restore has begun. Returns as `load` does. A copy that cannot be
    /// used is replaced by what the loader makes.
    private func restore(_ slot: Slot<Value>, _ loader: (() throws -> Value)?) throws -> Bool {
        let value: Value
        do {
            let start = SystemClock().now()
            let plainByteCount = unsafe slot.header.pointee.plainByteCount.load(ordering: .relaxed)
            value = try working(in: slot) {
                unsafe try slot.header.pointee.copy.restore(Value.self, plainByteCount: plainByteCount)
            }
            statistics.noteRestore(SystemClock().now() - start, byteCount: plainByteCount)
        } catch {
            return try rebuild(slot, loader, after: error)
        }
        unsafe slot.value.initialize(to: value)
        noteArrival(unsafe slot.header.pointee.footprint.load(ordering: .relaxed))
        let (stamp, horizon) = (UseClock.tick(), refaultHorizon)
        guard let step = unsafe slot.header.pointee.apply({ $0.finishingRestore(stamp: stamp, horizon: horizon) }) else {
            unsafe slot.value.deinitialize(count: 1)
            noteArrival(unsafe -slot.header.pointee.footprint.load(ordering: .relaxed))
            release(slot)
            return false
        }
        unsafe didArrive(in: slot.base, step.after)
        unsafe wake(slot.base, after: step.before)
        controller?.delegate?.resourceDidRestore(PressureResource(entry: self))
        return true
    }

    private func rebuild(
        _ slot: Slot<Value>,
        _ loader: (() throws -> Value)?,
        after error: any Error
    ) throws -> Bool {
        let error = (error as? SpillFailure)?.pressureError(path: unsafe path(of: slot.base)) ?? error
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        if let failure = error as? PressureError { controller?.context?.note(failure) }
        guard loader != nil else {
            if let step = unsafe slot.header.pointee.apply({ $0.failingRestore() }) {
                unsafe wake(slot.base, after: step.before, outcome: .failed(error))
            } else {
                release(slot)
            }
            throw error
        }
        guard unsafe slot.header.pointee.apply({ $0.rebuilding() }) != nil else {
            release(slot)
            return false
        }
        return try load(slot, loader)
    }
}

extension UInt32 {
    /// The calling thread, as a number that is never 0.
    static var currentThread: UInt32 { pk_thread_id() }
}
