import CLinuxShims

/// A few threads for loaders and restores that async readers ask for, so that none of them blocks the cooperative pool.
package final class BlockingPool: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
        var idle = 0
    }

    private let state = ConditionLock(State())
    private let limit: Int

    /// The pool of the process. Its threads start when they are first needed and stay.
    package static let shared = BlockingPool(threads: max(4, Int(pk_usable_cpus())))

    /// A pool of at most `threads` threads.
    package init(threads: Int) { limit = threads }

    /// Runs `work` on a thread of the pool and returns what it returns or throws. Suspends; does not block.
    package func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Swift.Result { try work() }) }
        }
    }

    /// Runs a job on a thread of the pool, or here if there is none. Does not block otherwise.
    func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idle < state.jobs.count - state.next, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        do throws(PressureError) {
            try WorkerThread.spawn("pk-blocking") { self.work() }
        } catch {
            // With no thread at all nobody would ever run the job, so the caller's own thread does.
            let isAlone = state.withLock { state in
                state.threads -= 1
                return state.threads == 0
            }
            if isAlone { drain() }
        }
    }

    private func work() {
        while true {
            state.withLock { $0.idle += 1 }
            let job = state.wait { state -> (@Sendable () -> Void)? in
                guard let job = Self.takeJob(from: &state) else { return nil }
                state.idle -= 1
                return job
            }
            job()
        }
    }

    private func drain() {
        while let job = state.withLock({ Self.takeJob(from: &$0) }) { job() }
    }

    private static func takeJob(from state: inout State) -> (@Sendable () -> Void)? {
        guard state.next < state.jobs.count else { return nil }
        let job = state.jobs[state.next]
        state.next += 1
        // Taken jobs are removed in bulk, so that taking one costs the same however many wait.
        if state.next == state.jobs.count || state.next >= 1024 {
            state.jobs.removeFirst(state.next)
            state.next = 0
        }
        return job
    }
}
