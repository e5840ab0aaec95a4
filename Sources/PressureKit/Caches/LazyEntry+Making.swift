import Glibc
import Synchronization

/// The slow path of a read: load, restore, or wait for the thread that does.
extension LazyEntry {
    /// Pins the value, making it or waiting for it. Blocks.
    @usableFromInline
    func acquireSlowly() throws -> Slot<Value> {
        while true {
            let slot = slot
            if slot.pin() { return slot }
            if try make(slot) { return slot }
            if unsafe slot.header.pointee.apply({ $0.awaiting() }) != nil {
                try refuseToWaitForMyself(slot)
                try follow(ParkingLot.park(on: slot.address) { unsafe slot.header.pointee.state.hasWaiters })
            } else {
                sched_yield()  // It has just changed, or been replaced: look again.
            }
        }
    }

    /// Pins the value without ever blocking the calling thread: what blocks runs on the ``BlockingPool``.
    ///
    /// It is also begun there: a load that had begun and waited for a thread might wait for loaders that hold them all
    /// and read this very cache.
    func acquire() async throws -> Slot<Value> {
        while true {
            let slot = slot
            if slot.pin() { return slot }
            if unsafe slot.header.pointee.state.isAway {
                if try await BlockingPool.shared.run({ try self.make(slot) }) { return slot }
            } else if unsafe slot.header.pointee.apply({ $0.awaiting() }) != nil {
                try refuseToWaitForMyself(slot)
                try follow(await ParkingLot.park(on: slot.address) { unsafe slot.header.pointee.state.hasWaiters })
            } else {
                await Task.yield()
            }
        }
    }

    /// Makes the value, if it is away and nobody else does. Returns whether it is in place, pinned once.
    private func make(_ slot: Slot<Value>) throws -> Bool {
        if unsafe slot.header.pointee.apply({ $0.beginningLoad() }) != nil { return try load(slot) }
        if unsafe slot.header.pointee.apply({ $0.beginningRestore() }) != nil { return try restore(slot) }
        return false
    }

    private func follow(_ outcome: ParkingLot.Outcome) throws {
        if case .failed(let error) = outcome { throw error }
    }

    /// A loader that reads its own cache would wait for itself.
    private func refuseToWaitForMyself(_ slot: Slot<Value>) throws {
        guard unsafe slot.header.pointee.maker.load(ordering: .relaxed) == .currentThread else { return }
        throw PressureError.recursiveAccess(path: path)
    }

    // MARK: Making the value

    /// Runs the loader in a slot whose load has begun. Returns whether the value is in place, pinned once;
    /// `false` when the slot was replaced meanwhile, so that there is a newer value to read.
    private func load(_ slot: Slot<Value>) throws -> Bool {
        let value: Value
        do {
            guard let loader else { throw PressureError.noValue(path: path) }
            let start = SystemClock().now()
            value = try working(in: slot) { try loader() }
            statistics.noteLoad(SystemClock().now() - start)
        } catch {
            statistics.failures.wrappingAdd(1, ordering: .relaxed)
            guard let step = unsafe slot.header.pointee.apply({ $0.failingLoad() }) else {
                release(slot)
                return false
            }
            unsafe wake(slot.base, after: step.before, outcome: .failed(error))
            throw error
        }
        describe(value, in: slot)
        unsafe slot.value.initialize(to: value)
        guard let step = unsafe slot.header.pointee.apply({ $0.finishingLoad(stamp: UseClock.tick()) }) else {
            unsafe slot.value.deinitialize(count: 1)
            release(slot)
            return false
        }
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

    /// Reads the copy back in a slot whose restore has begun. Returns as ``load(_:)`` does. A copy that cannot be
    /// used is replaced by what the loader makes.
    private func restore(_ slot: Slot<Value>) throws -> Bool {
        let value: Value
        do {
            let start = SystemClock().now()
            value = try working(in: slot) { unsafe try slot.copy.pointee.restore(Value.self) }
            statistics.noteRestore(SystemClock().now() - start)
        } catch {
            return try rebuild(slot, after: error)
        }
        unsafe slot.value.initialize(to: value)
        guard let step = unsafe slot.header.pointee.apply({ $0.finishingRestore(stamp: UseClock.tick()) }) else {
            unsafe slot.value.deinitialize(count: 1)
            release(slot)
            return false
        }
        unsafe wake(slot.base, after: step.before)
        controller?.delegate?.resourceDidRestore(PressureResource(entry: self))
        return true
    }

    private func rebuild(_ slot: Slot<Value>, after error: any Error) throws -> Bool {
        let error = (error as? SpillFailure)?.pressureError() ?? error
        let failure = (error as? PressureError)?.at(path: path)
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        if let failure { controller?.context?.note(failure) }
        if unsafe slot.header.pointee.apply({ $0.rebuilding() }) != nil { return try load(slot) }
        guard let step = unsafe slot.header.pointee.apply({ $0.failingRestore() }) else {
            release(slot)
            return false
        }
        unsafe wake(slot.base, after: step.before, outcome: .failed(failure ?? error))
        throw failure ?? error
    }
}

extension UInt {
    /// The calling thread, as a number that is never 0.
    static var currentThread: UInt { UInt(pthread_self()) }
}
