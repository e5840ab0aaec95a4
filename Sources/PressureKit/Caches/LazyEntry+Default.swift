import Glibc
import PressureSystem
import Synchronization

/// Changing a value that need not be there.
extension LazyEntry {
    /// Changes the value, or one that `makeValue` makes when there is none. Blocks while it is restored.
    func update<Result>(
        default makeValue: () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        while true {
            if let slot = try acquireKept() {
                do { try beginWriting() } catch {
                    release(slot)
                    throw error
                }
                let changed = change(slot, body)
                keepBudgets()
                guard let changed else { continue }
                waitForRoom(after: changed.growth)
                return try changed.result.get()
            }
            // With nothing held: both may use the cache.
            var value = try makeValue()
            let result = try body(&value)
            let size = ValueSize(value)
            try beginWriting()
            guard insert(value, size) else { continue }
            keepBudgets()
            waitForRoom(after: size.footprint)
            return result
        }
    }

    /// The same for a cache whose loader suspends: suspends where that one blocks, but not while `body` runs.
    func updateSuspending<Result>(
        default makeValue: () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        while true {
            if let slot = try await acquireKept() {
                do { try await beginWritingSuspending() } catch {
                    release(slot)
                    throw error
                }
                let changed = change(slot, body)
                await keepBudgets()
                guard let changed else { continue }
                await waitForRoom(after: changed.growth)
                return try changed.result.get()
            }
            var value = try makeValue()
            let result = try body(&value)
            let size = ValueSize(value)
            try await beginWritingSuspending()
            guard insert(value, size) else { continue }
            await keepBudgets()
            await waitForRoom(after: size.footprint)
            return result
        }
    }

    /// Puts a value in if there is none, and ends this thread's turn. Does not wait for a load, whose readers get this
    /// value.
    ///
    /// - Returns: whether there was none.
    private func insert(_ value: consuming Value, _ size: ValueSize) -> Bool {
        defer { endWriting() }
        while true {
            let slot = slot
            if unsafe slot.header.pointee.apply({ $0.phase == .unloaded ? $0.beginningMutation() : nil }) != nil {
                _ = replace(in: slot, hadValue: false, with: value, size)
                return true
            }
            if let step = unsafe slot.header.pointee.apply({ $0.phase == .loading ? $0.retiring() : nil }) {
                // Out of reach first, since a load that ends now must be changed, not replaced: readers look again for the
                // few instructions until there is another one.
                let fresh = spareSlot()
                fill(fresh, with: value, size)
                unsafe current.store(fresh.base, ordering: .releasing)
                finishMutation(fresh, hasValue: true)
                // Its maker holds the old one, and empties it.
                unsafe wake(slot.base, after: step.before)
                return true
            }
            switch unsafe slot.header.pointee.state.phase {
            case .resident, .mutating, .releasing, .spilled, .restoring: return false
            case .unloaded, .loading, .retired: sched_yield()
            }
        }
    }
}
