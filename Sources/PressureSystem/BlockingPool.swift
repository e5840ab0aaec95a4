import CLinuxShims

/// A few threads for what async callers ask for and what blocks, so that none of them blocks the cooperative pool.
///
/// There is one for each kind of waiting (``shared``, ``restores``, ``errands``), so that loaders which are stuck on a
/// network keep nobody from a value that only has to be read back, or from a save. They are the process's, because a cache
/// loads without a manager too, and threads for each manager would take memory while they wait.
///
/// A pool has as many threads as it was made for. When all of them are at work, jobs wait, and none of them has been
/// begun for a while, the pool takes it that its threads are blocked, and adds one, again and again, up to ``most``: as
/// .NET's thread pool does, whose "starvation detection" adds a thread when its queue has not moved for half a second.
/// Threads that find nothing to do for some seconds end. When there are as many as there may be, and still none is begun
/// for seconds, the job that has waited longest says so.
package final class BlockingPool: Sendable {
    /// Told how many threads there are, and how many jobs wait for them.
    package typealias Complaint = @Sendable (_ threads: Int, _ waiting: Int) -> Void

    private struct Job: Sendable {
        let run: @Sendable () -> Void
        let complaint: Complaint?
    }

    private struct State {
        var jobs: [Job] = []
        var next = 0
        /// Threads that work or wait for work; without the spare one.
        var workers = 0
        var idle = 0
        /// Whether there is a thread that steps in when the others are stuck.
        var hasSpare = false
        /// Jobs that were begun.
        var begun = 0

        var waiting: Int { jobs.count - next }
    }

    private let state = ConditionLock(State())
    /// Threads that it was made for.
    private let width: Int
    /// Threads that there are at most; may change at any time.
    private let bound: @Sendable () -> Int
    private let name: String
    /// How long a job waits while none is begun before a thread is added.
    private let patience: Duration
    /// How long a thread waits for a job before it ends.
    private let rest: Duration
    /// How long a job waits for the most threads there may be before it says so.
    private let silence: Duration

    /// For loaders: what they wait for is theirs to know.
    package static let shared = PoolLanes.loads[0]
    /// For restores and for keeping to limits, which wait for the disk only.
    package static let restores = PoolLanes.restores[0]
    /// For saves, shutdown and answers to commands: few, long, and never to be kept waiting.
    package static let errands = BlockingPool(threads: 2, name: "pk-errand")

    /// A pool of `threads` threads, which start when they are first needed, and up to `most` when those are stuck.
    package init(
        threads: Int,
        most: @escaping @autoclosure @Sendable () -> Int = 64,
        name: String = "pk-blocking",
        patience: Duration = .milliseconds(50),
        rest: Duration = .seconds(5),
        silence: Duration = .seconds(5)
    ) {
        width = threads
        bound = most
        self.name = name
        self.patience = patience
        self.rest = rest
        self.silence = silence
    }

    /// Runs `work` on a thread of the pool and returns what it returns or throws. Suspends; does not block.
    ///
    /// - Parameter stuck: called when it has waited long for the most threads there may be.
    package func run<Result: Sendable>(
        stuck: Complaint? = nil,
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await Suspended<Swift.Result<Result, any Error>>.wait { task in
            submit(stuck: stuck) { task.resume(returning: Swift.Result { try work() }) }
        }.get()
    }

    /// Runs a job on a thread of the pool, or here if there is none. Does not block otherwise.
    package func submit(stuck: Complaint? = nil, _ job: @escaping @Sendable () -> Void) {
        let kind = state.withLock { state in
            state.jobs.append(Job(run: job, complaint: stuck))
            return missing(&state)
        }
        spawn(kind)
    }

    /// Threads that work or wait for work; a spare one counts when it works.
    var threadCount: Int { state.withLock { $0.workers } }

    /// Sleeps until no thread is left. Blocks.
    func waitUntilEmpty() { state.wait { $0.workers == 0 && !$0.hasSpare ? () : nil } }

    // MARK: Threads

    private var most: Int { max(1, bound()) }

    private enum Kind {
        case worker, spare
    }

    /// Which thread is to be started for the jobs that wait; it counts already.
    private func missing(_ state: inout State) -> Kind? {
        guard state.idle < state.waiting else { return nil }
        if state.workers < min(width, most) {
            state.workers += 1
            return .worker
        }
        guard !state.hasSpare else { return nil }
        state.hasSpare = true
        return .spare
    }

    private func spawn(_ kind: Kind?) {
        guard let kind else { return }
        do throws(PressureError) {
            try WorkerThread.spawn(name) {
                switch kind {
                case .worker: self.work()
                case .spare: self.stepIn()
                }
            }
        } catch {
            // With no thread at all nobody would ever run the job, so the caller's own thread does.
            let isAlone = state.withLock { state in
                switch kind {
                case .worker: state.workers -= 1
                case .spare: state.hasSpare = false
                }
                return state.workers == 0
            }
            if isAlone { drain() }
        }
    }

    /// A worker's life.
    private func work() {
        while true {
            state.withLock { $0.idle += 1 }
            let taken = state.wait(atMost: rest) { state -> Job? in
                guard let job = Self.takeJob(from: &state) else { return nil }
                state.idle -= 1
                return job
            }
            // One may have come at the last moment.
            let job =
                taken
                ?? state.withLock { state in
                    state.idle -= 1
                    let job = Self.takeJob(from: &state)
                    if job == nil { state.workers -= 1 }
                    return job
                }
            guard let job else { return }
            job.run()
        }
    }

    /// The spare thread's life: it waits until the others are stuck, and becomes one of them.
    private func stepIn() {
        while true {
            let begun = state.wait(atMost: rest) { $0.waiting > 0 ? $0.begun : nil }
            guard let begun else {
                let ends = state.withLock { state in
                    if state.waiting == 0 { state.hasSpare = false }
                    return !state.hasSpare
                }
                if ends { return }
                continue
            }
            let isServed: Void? = state.wait(atMost: patience) { $0.waiting == 0 ? () : nil }
            if isServed != nil { continue }
            let isFull = state.withLock { $0.begun == begun && $0.workers >= most }
            if isFull {
                watch(since: begun)
                continue
            }
            let (job, next) = state.withLock { state -> (Job?, Kind?) in
                guard state.begun == begun, state.workers < most, let job = Self.takeJob(from: &state) else {
                    return (nil, nil)
                }
                state.hasSpare = false
                state.workers += 1
                return (job, missing(&state))
            }
            guard let job else { continue }
            spawn(next)
            job.run()
            return work()
        }
    }

    /// All threads there may be are at work: waits until a job is begun, and says so if that takes long.
    private func watch(since begun: Int) {
        let isMoving: Void? = state.wait(atMost: silence) { $0.waiting == 0 || $0.begun != begun ? () : nil }
        guard isMoving == nil else { return }
        let (complaint, threads, waiting) = state.withLock { state in
            (state.waiting > 0 ? state.jobs[state.next].complaint : nil, state.workers, state.waiting)
        }
        complaint?(threads, waiting)
    }

    private func drain() {
        while let job = state.withLock({ Self.takeJob(from: &$0) }) { job.run() }
    }

    private static func takeJob(from state: inout State) -> Job? {
        guard state.next < state.jobs.count else { return nil }
        let job = state.jobs[state.next]
        state.next += 1
        state.begun += 1
        // Taken jobs are removed in bulk, so that taking one costs the same however many wait.
        if state.next == state.jobs.count || state.next >= 1024 {
            state.jobs.removeFirst(state.next)
            state.next = 0
        }
        return job
    }
}
