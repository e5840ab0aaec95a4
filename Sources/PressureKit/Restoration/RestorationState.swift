import PressureSystem
import SpillStore
import Synchronization

/// What a manager knows of saving and restoring: the directory it holds, whose turn it is, and whether a restoration goes
/// on.
final class RestorationState: Sendable {
    /// A state that values were restored from. It is there as long as one has its copy in it.
    private struct RestoredFile {
        weak var file: SegmentFile?
    }

    private struct State {
        var directory: StateDirectory?
        /// Whether it is held from one save to the next.
        var isHolding = true
        var restorations = 0
        var extensions = 0
        var waiting: [Suspended<Void>] = []
        var isTaken = false
        var files: [RestoredFile] = []
        var turns: [Suspended<Void>] = []
    }

    #if Redis
    /// Those that are on servers.
    let remote = RemoteStates()
    #endif
    private let fileSystem: any NamedFileSystem
    private let state = Lock(State())
    /// One save or restore at a time finds the directory.
    private let opening = Lock(())

    init(_ fileSystem: any NamedFileSystem) { self.fileSystem = fileSystem }

    /// Whether a restoration has begun and is not complete.
    var isUnderWay: Bool { state.withLock { $0.restorations > 0 } }

    /// The directory, which is held from now on in place of another one.
    func directory(_ path: String) throws(PressureError) -> StateDirectory {
        try opening.withLock { _ throws(PressureError) in
            if let held = state.withLock({ $0.directory }), held.path == path { return held }
            let directory = try StateDirectory(path, fileSystem: fileSystem)
            state.withLock { if $0.isHolding { $0.directory = directory } }
            return directory
        }
    }

    /// Gives the directory back, as soon as a save or restore that is under way has ended. From now on each takes it for as
    /// long as it goes on.
    func letGo() {
        let directory = state.withLock { state -> StateDirectory? in
            state.isHolding = false
            defer { state.directory = nil }
            return state.directory
        }
        withExtendedLifetime(directory) {}
    }

    /// Suspends until nobody else of this manager saves or restores, in the order of the calls.
    func takeTurn() async {
        await Suspended.wait { task in
            let isFree = state.withLock { state in
                defer { state.isTaken = true }
                if state.isTaken { state.turns.append(task) }
                return !state.isTaken
            }
            if isFree { task.resume() }
        }
    }

    /// Passes the turn on.
    func endTurn() {
        let next = state.withLock { state -> Suspended<Void>? in
            state.isTaken = !state.turns.isEmpty
            return state.isTaken ? state.turns.removeFirst() : nil
        }
        next?.resume()
    }

    /// How many wait for their turn.
    var waitingTurns: Int { state.withLock { $0.turns.count } }

    /// Values have their copies in this file from now on.
    func note(_ file: SegmentFile) {
        state.withLock { state in
            state.files.removeAll { $0.file == nil }
            state.files.append(RestoredFile(file: file))
        }
    }

    /// What copies take that are in saved states still. One system call for each of them.
    var storedByteCount: Int {
        let files = state.withLock { $0.files.compactMap(\.file) }
        return files.reduce(0) { $0 + $1.usage().storedBytes }
    }

    func begin() { state.withLock { $0.restorations += 1 } }

    func end() { state.withLock { $0.restorations -= 1 } }

    func extend() { state.withLock { $0.extensions += 1 } }

    func complete() {
        let waiting = state.withLock { state -> [Suspended<Void>] in
            guard state.extensions > 0 else { return [] }
            state.extensions -= 1
            guard state.extensions == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for task in waiting { task.resume() }
    }

    /// Ends a restoration when nobody extends it any more.
    func waitForExtensions() async {
        await Suspended.wait { task in
            let isDone = state.withLock { state in
                if state.extensions == 0 { return true }
                state.waiting.append(task)
                return false
            }
            if isDone { task.resume() }
        }
        end()
    }
}
