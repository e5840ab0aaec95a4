import CLinuxShims
import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// What a reader that found no resident value has to do. Not a part of any type with parameters, whose every part would be
/// looked up at run time, at each miss.
enum Turn {
    /// The value is pinned after all.
    case pinned
    /// It is this reader's turn to make the value.
    case load, restore
    /// It would be, but it did not want to begin.
    case away
    /// There is none, and it wants only what there is.
    case missing
    /// Somebody else is at work: what the slot's `arrival` says while they are.
    case wait(UInt32)
}

/// What a reader whose turn it is begins.
enum Beginning {
    /// Nothing yet.
    case neither
    /// Nothing yet, and later only a restore.
    case neitherOfKept
    /// A restore, and no load.
    case restores
    case either

    /// Whether a load is none of its business, begun by others or not.
    var isKept: Bool { self == .neitherOfKept || self == .restores }
}

/// The slow path of a read: load, restore, or wait for the thread that does.
extension ValueEntry {
    /// Finds the slot that readers find now, which may be another one after a wait, and takes a turn there; it begins to
    /// make the value only as it is told to.
    typealias Finding = (_ begins: Beginning) -> (slot: Slot<Value>, turn: Turn?)

    /// Takes the next step towards a pinned value; `nil` when the slot has just changed and is to be looked for again.
    func turn(_ slot: Slot<Value>, begins: Beginning) -> Turn? {
        if slot.pin() { return .pinned }
        let restores = begins == .restores || begins == .either
        if restores, unsafe slot.header.pointee.apply({ $0.beginningRestore() }) != nil { return .restore }
        if begins == .either {
            if unsafe slot.header.pointee.apply({ $0.beginningLoad() }) != nil {
                // Tells this load from others in the same slot.
                unsafe slot.header.pointee.arrival.store(UseClock.tick(), ordering: .relaxed)
                return .load
            }
        } else {
            let state = unsafe slot.header.pointee.state
            if begins.isKept, state.phase == .unloaded || state.phase == .loading { return .missing }
            if state.isAway { return .away }
        }
        let arrival = unsafe slot.header.pointee.arrival.load(ordering: .relaxed)
        return unsafe slot.header.pointee.apply({ $0.awaiting() }) != nil ? .wait(arrival) : nil
    }

    /// Pins a value, making it, with `loader` if there is one, or waiting for it. Blocks.
    func acquire(from find: Finding, loader: (() throws -> Value)?) throws -> Slot<Value> {
        while true {
            let (slot, turn) = find(.either)
            switch turn {
            case .pinned: return slot
            case .load: if try load(slot, loader) { return slot }
            case .restore: if try restore(slot, loader) { return slot }
            case .wait(let arrival):
                try wait(for: slot, since: arrival)
            case .missing: preconditionFailure("waited for no load")
            case .away, nil: sched_yield()
            }
        }
    }

    /// The same without ever blocking the calling thread: what blocks runs on a ``BlockingPool``, one for restores and
    /// one for loads, so that loaders that are stuck keep nobody from what only has to be read back.
    ///
    /// It is also begun there: a load that had begun and waited for a thread might wait for loaders that hold them all
    /// and read this very cache. What is asked for from inside a loader has a lane of its own, see ``Load``.
    func acquireSuspending(
        from find: @escaping @Sendable (_ begins: Beginning) -> (slot: Slot<Value>, turn: Turn?),
        loader: (@Sendable () throws -> Value)?
    ) async throws -> Slot<Value> {
        while true {
            let (slot, turn) = find(.neither)
            switch turn {
            case .pinned: return slot
            case .load, .restore, .missing: preconditionFailure("began what it was not to begin")
            case .away:
                // As it looks now; should it be a load after all, it is looked at again.
                let isSpilled = unsafe slot.header.pointee.state.phase == .spilled
                let made = try await Load.job(on: isSpilled ? .restores : .loads, stuck: tellOfStuckLoaders) {
                    () throws -> Slot<Value>? in
                    let (slot, turn) = find(isSpilled ? .restores : .either)
                    return switch turn {
                    case .pinned: slot
                    case .load: try self.load(slot, loader) ? slot : nil
                    case .restore: try self.restore(slot, loader) ? slot : nil
                    case .wait, .away, .missing, nil: nil
                    }
                }
                if let made { return made }
            case .wait(let arrival):
                try await wait(for: slot, since: arrival)
            case nil: await Task.yield()
            }
        }
    }

    func follow(_ outcome: ParkingLot.Outcome) throws {
        switch outcome {
        case .changed: break
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }

    /// Waits for whoever is at work in a slot. Blocks.
    ///
    /// - Throws: what a load that was waited for threw, or ``PressureError`` with `recursiveAccess`.
    func wait(for slot: Slot<Value>, since arrival: UInt32) throws {
        try LoadWaits.wait(for: Load.Identity(slot: slot.address, arrival: arrival)) {
            try refuseToWaitForMyself(slot)
            try follow(ParkingLot.park(on: slot.address) { slot.isStillBusy(since: arrival) })
        }
    }

    /// The same without blocking the calling thread.
    func wait(for slot: Slot<Value>, since arrival: UInt32) async throws {
        try await LoadWaits.wait(for: Load.Identity(slot: slot.address, arrival: arrival)) {
            try refuseToWaitForMyself(slot)
            try follow(await ParkingLot.park(on: slot.address) { slot.isStillBusy(since: arrival) })
        }
    }

    /// What this thread makes otherwise than by a loader, or measures, must not read its own cache either.
    private func refuseToWaitForMyself(_ slot: Slot<Value>) throws {
        guard unsafe slot.header.pointee.maker.load(ordering: .relaxed) == .currentThread else { return }
        throw PressureError.recursiveAccess(path: unsafe path(of: slot.base))
    }

    /// A load in a slot whose load has begun, as others are told of it.
    func makeLoad(_ slot: Slot<Value>, since arrival: UInt32) -> Load {
        Load(Load.Identity(slot: slot.address, arrival: arrival), name: unsafe naming(slot.base))
    }

    /// All threads of a lane have been taken for long.
    func tellOfStuckLoaders(threads: Int, waiting: Int) {
        host?.noteStuckLoaders(at: path, threads: threads, waiting: waiting)
    }

    // MARK: Making the value

    /// What loads and restores are timed by: the manager's clock. A cache without a manager has the system's.
    var clock: any MonotonicClock { host?.clock ?? SystemClock() }

    /// Runs the loader in a slot whose load has begun. Returns whether the value is in place, pinned once;
    /// `false` when the slot was replaced meanwhile, so that there is a newer value to read.
    func load(_ slot: Slot<Value>, _ loader: (() throws -> Value)?) throws -> Bool {
        do {
            guard let loader else { throw PressureError.noValue(path: unsafe path(of: slot.base)) }
            let arrival = unsafe slot.header.pointee.arrival.load(ordering: .relaxed)
            return try admitted(statistics.expectedFootprint, isLoaded: true) {
                let (value, size) = try make(slot, since: arrival, loader)
                let isLighter = traits.alternate.load()?.takeMade() ?? false
                return putLoaded(value, size, isLighter ? .alternate : .full, in: slot)
            }
        } catch {
            guard failLoad(slot, error) else { return false }
            throw error
        }
    }

    /// Ends a load that brought no value, calls `settle` before anybody wakes, and sends the failure up, if it is one;
    /// `false` when the slot was replaced meanwhile, and nobody is to hear of it.
    func failLoad(_ slot: Slot<Value>, _ error: any Error, settle: () -> Void = {}) -> Bool {
        // Without a loader there was nothing that could fail, and a load that was cancelled did as it was told.
        let isFailure = hasLoader && !(error is CancellationError)
        if isFailure { statistics.failures.wrappingAdd(1, ordering: .relaxed) }
        guard let step = unsafe slot.header.pointee.apply({ $0.failingLoad() }) else {
            release(slot)
            return false
        }
        settle()
        unsafe wake(slot.base, after: step.before, outcome: .failed(error))
        unsafe didDrop(slot.base)
        if isFailure { climb(.load, error) }
        return true
    }

    /// Ends a load with its value. Returns as `putInPlace` does.
    func putLoaded(
        _ value: consuming Value,
        _ size: ValueSize,
        _ variant: CacheVariant,
        in slot: Slot<Value>,
        settle: () -> Void = {}
    ) -> Bool {
        note(size, in: slot)
        unsafe slot.header.pointee.variant.store(variant.rawValue, ordering: .relaxed)
        let isWanted = putInPlace(value, in: slot, settle: settle) { $0.finishingLoad(stamp: $1, horizon: $2) }
        if isWanted { host?.didLoad(PressureResource(entry: self)) }
        return isWanted
    }

    /// Ends a load or restore by the step that does. Returns whether the value is in place, pinned once, and the sleepers
    /// are awake, which `settle` was called before; `false` when the slot was replaced meanwhile, and the value is gone.
    func putInPlace(
        _ value: consuming Value,
        in slot: Slot<Value>,
        settle: () -> Void,
        by finishing: (ResidencyWord, _ stamp: UInt32, _ horizon: UInt32) -> ResidencyWord?
    ) -> Bool {
        let footprint = unsafe slot.header.pointee.footprint.load(ordering: .relaxed)
        unsafe slot.value.initialize(to: value)
        noteArrival(footprint, values: 1)
        let (stamp, horizon) = (UseClock.tick(), refaultHorizon)
        guard let step = unsafe slot.header.pointee.apply({ finishing($0, stamp, horizon) }) else {
            unsafe slot.value.deinitialize(count: 1)
            noteArrival(-footprint, values: -1)
            release(slot)
            return false
        }
        settle()
        if step.before.isMarkedEvicted { unsafe noteReturn(slot.base, step.before) }
        unsafe didArrive(in: slot.base, step.after)
        unsafe wake(slot.base, after: step.before)
        return true
    }

    /// Runs `body` once there is room for so many bytes, or nobody waits for it any longer. They count as on their way until
    /// it has ended: until the books have what it brought, or a preempted thread's value would be in neither.
    func admitted<Result>(_ bytes: Int, isLoaded: Bool, _ body: () throws -> Result) rethrows -> Result {
        let admission = host?.admission
        let pass = admission?.admit(bytes, isLoaded: isLoaded, isNested: Load.isAround)
        defer { if let pass { admission?.end(pass) } }
        return try body()
    }

    /// Runs the loader while the slot names this thread as its maker; the value's size is the app's code too, or it would wait
    /// for itself.
    private func make(
        _ slot: Slot<Value>,
        since arrival: UInt32,
        _ loader: () throws -> Value
    ) throws -> (value: Value, size: ValueSize) {
        slot.nameMaker(.currentThread)
        defer { slot.nameMaker(0) }
        return try timed { try makeLoad(slot, since: arrival).run(loader) }
    }
}

extension Slot {
    /// Says which thread makes the value; 0 for none.
    func nameMaker(_ thread: UInt32) { unsafe header.pointee.maker.store(thread, ordering: .relaxed) }

    /// Whether whoever was at work when `arrival` was read still is. A keyed cache gives a slot to another key when a
    /// load has failed: waiting for that one's load would bring the wrong error.
    func isStillBusy(since arrival: UInt32) -> Bool {
        unsafe header.pointee.state.hasWaiters && header.pointee.arrival.load(ordering: .relaxed) == arrival
    }
}
