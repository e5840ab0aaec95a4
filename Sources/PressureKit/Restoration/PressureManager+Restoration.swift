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
    /// value is saved as it is when its turn comes. Values that are spilled are taken over as they are on the disk.
    /// Whatever happens, to the last power failure, the directory holds what was saved before or what is saved now.
    ///
    /// - Parameters:
    ///   - directory: a directory of this user's alone, made if it does not exist. It is held until the manager is
    ///     released, so that no other process uses it.
    ///   - version: the app's, held against the one of the process that restores.
    /// - Returns: what was saved.
    /// - Throws: ``PressureError`` with `stateDirectoryUnusable`, `stateDirectoryInUse`, or `stateNotSaved` when writing
    ///   fails, the delegate does not want it, or a restoration has not been completed.
    @discardableResult
    public func saveState(to directory: String, version: String = "") async throws(PressureError) -> StateReport {
        guard delegate?.shouldSaveState() ?? true else {
            throw .stateNotSaved(directory, "the delegate did not want it (shouldSaveState)")
        }
        guard !restoration.isUnderWay else {
            throw .stateNotSaved(directory, "a restoration is not complete, and would be saved half done")
        }
        let (root, held, fileSystem) = (root, restoration, context.engine.file.fileSystem)
        let (floor, clock) = (context.engine.file.limits.freeSpaceFloor, context.clock)
        return try await Self.blocking { () throws(PressureError) in
            let directory = try held.directory(directory, fileSystem: fileSystem)
            let saver = StateSaver(directory: directory, version: version, freeSpaceFloor: floor, clock: clock)
            return try saver.save(root)
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
    /// - Throws: ``PressureError`` with `stateRefused` when the state is damaged, foreign, of a later format, or not
    ///   wanted by the delegate, which by default wants that of its own version only; nothing has changed then.
    ///   `stateDirectoryUnusable`, `stateDirectoryInUse`.
    @discardableResult
    public func restoreState(from directory: String, version: String = "") async throws(PressureError) -> StateReport {
        let (root, held, fileSystem) = (root, restoration, context.engine.file.fileSystem)
        let delegate = delegate
        held.begin()
        let report: StateReport
        do throws(PressureError) {
            report = try await Self.blocking { () throws(PressureError) in
                let restorer = StateRestorer(directory: try held.directory(directory, fileSystem: fileSystem))
                guard let state = try restorer.read() else { return StateReport.nothing }
                let saved = state.manifest.version
                guard delegate?.shouldRestoreState(savedBy: saved, version: version) ?? (saved == version) else {
                    throw .stateRefused(directory, saved == version ? .vetoed : .version(saved))
                }
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

    /// Has ``restoreState(from:version:)`` wait for ``completeStateRestoration()``. Called from inside one of its hooks by
    /// who goes on restoring asynchronously.
    public func extendStateRestoration() { restoration.extend() }

    /// Ends one ``extendStateRestoration()``. Does nothing without one.
    public func completeStateRestoration() { restoration.complete() }

    private static func blocking(
        _ work: @escaping @Sendable () throws(PressureError) -> StateReport
    ) async throws(PressureError) -> StateReport {
        do {
            return try await BlockingPool.shared.run { try work() }
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

/// What a manager knows of saving and restoring: the directory it holds, and whether a restoration goes on.
final class RestorationState: Sendable {
    private struct State {
        var directory: StateDirectory?
        var restorations = 0
        var extensions = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    /// One save or restore at a time finds the directory.
    private let opening = Lock(())

    /// Whether a restoration has begun and is not complete.
    var isUnderWay: Bool { state.withLock { $0.restorations > 0 } }

    /// The directory, which is held from now on in place of another one.
    func directory(_ path: String, fileSystem: any FileSystem) throws(PressureError) -> StateDirectory {
        try opening.withLock { _ throws(PressureError) in
            if let held = state.withLock({ $0.directory }), held.path == path { return held }
            let directory = try StateDirectory(path, fileSystem: fileSystem)
            state.withLock { $0.directory = directory }
            return directory
        }
    }

    func begin() { state.withLock { $0.restorations += 1 } }

    func end() { state.withLock { $0.restorations -= 1 } }

    func extend() { state.withLock { $0.extensions += 1 } }

    func complete() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.extensions > 0 else { return [] }
            state.extensions -= 1
            guard state.extensions == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Ends a restoration when nobody extends it any more.
    func waitForExtensions() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.extensions == 0 { return true }
                state.waiting.append(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
        end()
    }
}
