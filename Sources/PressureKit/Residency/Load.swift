import PressureSystem
import Synchronization

/// A load that is going on, or a job that the library runs for an async reader: what is asked from inside of it finds it
/// as a task-local, on the thread that runs the loader and in the tasks that the loader starts.
///
/// By it a loader may wait for another cache in whatever way it likes. What it asks for has threads of its own, so that
/// it never waits for a thread that loaders hold who wait like itself; and a loader that would wait for itself, directly
/// or through others, is told so.
final class Load: Sendable {
    /// A load among all those of the process.
    struct Identity: Hashable, Sendable {
        let slot: UInt
        /// Tells it from other loads in the same slot.
        let arrival: UInt32
    }

    private struct State {
        var outer: Load?
        var name: (@Sendable () -> String)?
    }

    /// `nil` for a job, which nobody waits for by name.
    let identity: Identity?
    /// The lane in which jobs run that are asked for from inside of it.
    let lane: Int
    private let state: Lock<State>
    private let over = Atomic<Bool>(false)

    @TaskLocal private static var bound: Load?

    private init(_ identity: Identity?, in outer: Load?, lane: Int, name: (@Sendable () -> String)?) {
        self.identity = identity
        self.lane = lane
        state = Lock(State(outer: outer, name: name))
    }

    /// A load that is about to run, asked for from inside of `outer`.
    convenience init(_ identity: Identity, in outer: Load? = .current, name: @escaping @Sendable () -> String) {
        // On the thread of who asks, or on none.
        self.init(identity, in: outer, lane: outer?.lane ?? 1, name: name)
    }

    /// What the calling thread or task is inside of; `nil` mostly.
    ///
    /// A task may outlive the loader that began it. It is inside of nothing then, or of what that loader was inside of.
    static var current: Load? {
        guard let bound else { return nil }
        return bound.isOver ? bound.nextOut : bound
    }

    /// Whether the calling thread or task is inside of a load that goes on, and that waits for what it asks for.
    static var isAround: Bool {
        var next = current
        while let load = next, load.identity == nil { next = load.nextOut }
        return next != nil
    }

    /// The next one around it that goes on.
    var nextOut: Load? {
        var next = state.withLock { $0.outer }
        while let load = next, load.isOver { next = load.state.withLock { $0.outer } }
        // Or a chain of tasks, each begun by the one before, would keep all that ever were.
        state.withLock { $0.outer = next }
        return next
    }

    private var isOver: Bool { over.load(ordering: .acquiring) }

    /// Where its value is in the tree; empty when it is over, or a job.
    var name: String { state.withLock { $0.name }?() ?? "" }

    /// Runs the loader of this load, which is over then. Blocks as that does.
    func run<Result>(_ loader: () throws -> Result) rethrows -> Result {
        let outer = nextOut
        if let outer { LoadWaits.add(outer, for: self) }
        defer {
            if let outer { LoadWaits.remove(outer, for: self) }
            end()
        }
        return try Self.$bound.withValue(self, operation: loader)
    }

    /// The same for one that suspends, whose readers wait for it by themselves.
    func run(_ work: () async -> Void) async {
        await Self.$bound.withValue(self) { await work() }
        end()
    }

    private func end() {
        over.store(true, ordering: .releasing)
        // Let go with nothing locked: it has the key, which is the app's.
        let name = state.withLock { state in
            defer { state.name = nil }
            return state.name
        }
        withExtendedLifetime(name) {}
    }

    // MARK: Jobs

    /// Loads wait for each other this deep, each on a thread of its own, and no deeper.
    static let mostLanes = 16

    /// Runs `work` on a thread of a pool's lane, deeper than whatever waits for it. Suspends; does not block.
    ///
    /// - Parameter stuck: called when the lane has had no thread for it for long.
    /// - Throws: what `work` throws, or ``PressureError`` with `recursiveAccess` when too many loads wait for each other.
    static func job<Result: Sendable>(
        on lanes: PoolLanes,
        stuck: (@Sendable (_ threads: Int, _ waiting: Int) -> Void)? = nil,
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let asker = current
        if let asker { try asker.refuseDepth() }
        let lane = min(asker?.lane ?? 0, mostLanes - 1)
        return try await lanes[lane].run(stuck: stuck) {
            let job = Load(nil, in: asker, lane: lane + 1, name: nil)
            defer { job.end() }
            return try $bound.withValue(job, operation: work)
        }
    }

    private func refuseDepth() throws {
        // Each load on a thread of its own is within a job of its own.
        var (jobs, names) = (0, [String]())
        var next: Load? = self
        while let load = next {
            if load.identity == nil { jobs += 1 } else { names.append(load.name) }
            next = load.nextOut
        }
        guard jobs >= Self.mostLanes else { return }
        throw PressureError.loadersTooDeep(names.reversed())
    }
}
