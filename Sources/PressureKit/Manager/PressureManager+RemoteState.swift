#if Redis
import PressureSystem
import SpillStore

/// States that travel: saved to a server, restored from there on another machine.
extension PressureManager {
    /// Saves the tree of controllers, what each encodes, and the values of their caches, on a server.
    ///
    /// As `saveState(to:version:)` with a directory, in all that is not said here. What is written is acknowledged, read back
    /// and compared before it takes the place of what was saved before, in one step. A save that is cut off anywhere leaves
    /// that one whole; what it wrote goes with the lease. The state is held while it is saved, so that nobody else saves or
    /// restores it meanwhile. It then stays for ``RemoteState/lifetime``, whatever becomes of this process.
    ///
    /// Suspends; a thread of the library's own blocks on the network, no longer for a request of 4 MiB than
    /// ``RemoteSpill/commandTimeout``. Takes some 16 MiB of memory meanwhile.
    ///
    /// - Parameters:
    ///   - state: its name, and the server.
    ///   - version: the app's, held against the one of the process that restores.
    /// - Returns: what was saved.
    /// - Throws: ``PressureError`` with `serverUnusable` when the server cannot be reached, or may evict what it has
    ///   (anything but `maxmemory-policy noeviction`); `stateDirectoryInUse` when another manager holds the state, and says
    ///   which; `stateNotSaved` when writing fails, the delegate does not want it, or a restoration has not been completed;
    ///   `invalidConfiguration` when name, lifetime or server are none.
    @discardableResult
    public func saveState(to state: RemoteState, version: String = "") async throws(PressureError) -> StateReport {
        try state.validate()
        return try await save(in: state.description, version: version) { states throws(PressureError) in
            try states.place(state)
        }
    }

    /// Brings back what was saved on a server, by this process or another one, on this machine or another one.
    ///
    /// As `restoreState(from:version:)` with a directory, in all that is not said here. All of the state is read and checked
    /// before anything is restored. Restored values are read from the server when they are accessed: until the state is saved
    /// again, or the last of those values is gone, this manager holds it, and nobody else can restore it. A process that is
    /// killed holds it for the lease (``RemoteSpill/lease``).
    ///
    /// Suspends; a thread of the library's own blocks on the network.
    ///
    /// - Parameters:
    ///   - state: its name, and the server.
    ///   - version: the app's.
    /// - Returns: what was restored, and where it stopped.
    /// - Throws: ``PressureError`` with `serverUnusable` when the server cannot be reached, or may evict what it has;
    ///   `stateDirectoryInUse` when another manager holds the state, and says which; `stateRefused` when the state is damaged,
    ///   foreign, of another format, or not wanted by the delegate; `invalidConfiguration`. Nothing has changed then.
    @discardableResult
    public func restoreState(from state: RemoteState, version: String = "") async throws(PressureError) -> StateReport {
        try state.validate()
        return try await restore(version: version) { states throws(PressureError) in try states.place(state) }
    }

    /// Deletes what was saved on a server. Values that were restored from it, and have their copies there, keep them.
    ///
    /// Suspends; a thread of the library's own blocks on the network.
    ///
    /// - Returns: whether there was a state.
    /// - Throws: ``PressureError`` with `serverUnusable`, `stateDirectoryInUse`, `invalidConfiguration`, as saving does.
    @discardableResult
    public func removeState(_ state: RemoteState) async throws(PressureError) -> Bool {
        try state.validate()
        let held = restoration
        await held.takeTurn()
        defer { held.endTurn() }
        return try await Self.blocking { () throws(PressureError) in
            let found = held.remote.state(state.name, state.server.options)
            try found.begin()
            defer { found.end() }
            return try found.remove()
        }
    }
}

extension RestorationState {
    /// A state on a server, held.
    fileprivate func place(_ state: RemoteState) throws(PressureError) -> RemoteStatePlace {
        try RemoteStatePlace(remote.state(state.name, state.server.options), lifetime: state.lifetime)
    }
}
#endif
