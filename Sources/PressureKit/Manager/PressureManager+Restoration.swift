import PressureSystem
import Synchronization

/// Saving where the app was, and bringing it back after a relaunch: identifiers, providers and coders as in UIKit.
///
/// ```
/// restoreState(from:version:)
///   the state is read and checked, every byte of it         refused whole, or applied
///   shouldRestoreState(savedBy:version:)                    the manager's delegate
///   controller(forRestoring:coder:)                         for each that does not exist: asked along its path,
///                                                           nearest parent first, manager last; nil stops the branch
///   — caches have their values, spilled —
///   decodeRestorableState(from:)                            parents before children, when all exist
///   didFinishRestoringState()                               the same order
///   — extendStateRestoration() … completeStateRestoration() —
/// ```
///
/// It is state, not data. It is written when somebody says so, replaced whole, and refused whole when in doubt: what an
/// app cannot afford to lose belongs elsewhere.
extension PressureManager {
    /// Saves the tree of controllers, what each encodes, and the values of their caches.
    ///
    /// Suspends; the work is done on a thread of the library's own, hooks included. Caches can be used meanwhile, and each
    /// value is saved as it is when its turn comes: each is whole, and two of them may be of different moments. Values that
    /// are spilled are taken over as they are on the disk. It waits neither for memory nor for reclaims.
    /// One save or restoration of a manager goes on at a time: one that is asked for meanwhile suspends until its turn
    /// comes, in the order they were asked for, so that what is saved last is what stays.
    /// Whatever happens, to the last power failure, the directory holds what was saved before or what is saved now.
    ///
    /// - Parameters:
    ///   - directory: a directory of this user's alone, made if it does not exist. It is held until the manager is shut
    ///     down or released, so that no other process uses it.
    ///   - version: the app's, held against the one of the process that restores.
    /// - Returns: what was saved.
    /// - Throws: ``PressureError`` with `stateDirectoryUnusable`, `stateDirectoryInUse`, or `stateNotSaved` when writing
    ///   fails, the delegate does not want it, or a restoration has not been completed.
    @discardableResult
    public func saveState(to directory: String, version: String = "") async throws(PressureError) -> StateReport {
        try await save(in: directory, version: version) { states throws(PressureError) in
            try states.directory(directory)
        }
    }

    /// Brings back what was saved: controllers that do not exist are asked for, caches get their values, spilled, and
    /// read them on their next access.
    ///
    /// Suspends until that is done, and ``completeStateRestoration()`` was called as often as
    /// ``extendStateRestoration()``; hooks are called on a thread of the library's own. A saved value takes the place of
    /// the one a cache has. Caches that are registered later get theirs then. Without a saved state nothing happens.
    ///
    /// - Parameters:
    ///   - directory: as for ``saveState(to:version:)``, and held in the same way.
    ///   - version: the app's.
    /// - Returns: what was restored, and where it stopped.
    /// - Throws: ``PressureError`` with `stateRefused` when the state is damaged, foreign, of another format, or not
    ///   wanted by the delegate, which by default wants that of its own version only; nothing has changed then.
    ///   `stateDirectoryUnusable`, `stateDirectoryInUse`.
    @discardableResult
    public func restoreState(from directory: String, version: String = "") async throws(PressureError) -> StateReport {
        try await restore(version: version) { states throws(PressureError) in try states.directory(directory) }
    }

    /// Has ``restoreState(from:version:)`` wait for ``completeStateRestoration()``. Called from inside one of its hooks by
    /// who goes on restoring asynchronously.
    public func extendStateRestoration() { restoration.extend() }

    /// Ends one ``extendStateRestoration()``. Does nothing without one.
    public func completeStateRestoration() { restoration.complete() }
}

// MARK: - Wherever it is kept

extension PressureManager {
    /// Finds where a state is kept, and holds it. Blocks.
    typealias Opening = @Sendable (RestorationState) throws(PressureError) -> any StatePlace

    /// Saves a state in the place that `open` finds, which messages call `path` until then.
    func save(in path: String, version: String, _ open: @escaping Opening) async throws(PressureError) -> StateReport {
        guard delegate?.shouldSaveState() ?? true else {
            throw .stateNotSaved(path, "the delegate did not want it (shouldSaveState)")
        }
        guard !restoration.isUnderWay else { throw .stateHalfRestored(path) }
        let (root, held) = (root, restoration)
        let (limits, clock) = (context.engine.file.limits, context.clock)
        await held.takeTurn()
        defer { held.endTurn() }
        guard !restoration.isUnderWay else { throw .stateHalfRestored(path) }
        return try await Self.blocking { () throws(PressureError) in
            let place = try open(held)
            defer { place.leave() }
            return try StateSaver(place: place, version: version, limits: limits, clock: clock).save(root)
        }
    }

    /// Restores a state from the place that `open` finds.
    func restore(version: String, _ open: @escaping Opening) async throws(PressureError) -> StateReport {
        let (root, held) = (root, restoration)
        let (delegate, file) = (delegate, context.engine.file)
        held.begin()
        // A save that is under way describes the tree as it was.
        await held.takeTurn()
        let report: StateReport
        do throws(PressureError) {
            defer { held.endTurn() }
            report = try await Self.blocking { () throws(PressureError) in
                let place = try open(held)
                defer { place.leave() }
                let restorer = StateRestorer(place: place, limits: file.limits, decoders: file.decoders)
                guard let state = try restorer.read() else { return StateReport.nothing }
                let saved = state.manifest.version
                guard delegate?.shouldRestoreState(savedBy: saved, version: version) ?? (saved == version) else {
                    throw .stateRefused(place.path, saved == version ? .vetoed : .version(saved))
                }
                try place.confirm()
                held.note(state.file)
                var application = StateApplication(file: state.file, manager: delegate)
                application.apply(state.manifest.root, to: root)
                var report = application.report
                report.version = saved
                return report
            }
        } catch {
            held.end()
            throw error
        }
        await held.waitForExtensions()
        return report
    }

    static func blocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws(PressureError) -> Result
    ) async throws(PressureError) -> Result {
        do {
            return try await BlockingPool.errands.run { try work() }
        } catch {
            guard let error = error as? PressureError else { preconditionFailure("the work throws nothing else") }
            throw error
        }
    }
}

extension StateReport {
    /// There was no state.
    fileprivate static var nothing: StateReport {
        var report = StateReport()
        report.isFound = false
        return report
    }
}
