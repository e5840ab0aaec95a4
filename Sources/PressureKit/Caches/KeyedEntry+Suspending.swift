import PressureSystem

/// Reading without blocking, whichever kind of loader there is.
extension KeyedEntry {
    @usableFromInline
    func acquireMissing(_ key: Key) async throws -> Slot<Value> {
        let slot =
            if let suspendingLoader {
                try await acquire(from: { self.findSuspending(key) }) {
                    Loaded(value: try await suspendingLoader(key))
                }
            } else {
                try await acquireSuspending(from: finding(key), loader: loader(for: key))
            }
        await makeRoom()
        return slot
    }

    /// Pins the value if there is one, in memory or in a copy; `nil` when there is none. Runs no loader and waits for
    /// none, and never blocks the calling thread.
    func acquireKept(_ key: Key) async throws -> Slot<Value>? {
        if let slot = acquireIfResident(key) { return slot }
        let slot =
            if suspendingLoader != nil {
                try await acquireIfAny(from: { self.findKept(key) { self.suspendingTurn($0, begins: .restores) } }, nil)
            } else {
                try await acquireKeptSuspending { begins in self.findKept(key) { self.turn($0, begins: begins) } }
            }
        if slot != nil { await makeRoom() }
        return slot
    }

    /// Finds the key's slot, and begins there what it is told to.
    func finding(_ key: Key) -> @Sendable (Beginning) -> (slot: Slot<Value>, turn: Turn?) {
        { begins in
            var found: (slot: Slot<Value>?, turn: Turn?) = (nil, nil)
            self.withSlot(of: key) { found = ($0, self.turn($0, begins: begins)) }
            // There always is one.
            return (found.slot!, found.turn)
        }
    }

    private func findSuspending(_ key: Key) -> (slot: Slot<Value>, turn: SuspendingTurn?) {
        var found: (slot: Slot<Value>?, turn: SuspendingTurn?) = (nil, nil)
        withSlot(of: key) { found = ($0, suspendingTurn($0)) }
        // There always is one.
        return (found.slot!, found.turn)
    }
}
