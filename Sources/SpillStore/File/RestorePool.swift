import CLinuxShims
import PressureSystem
import Synchronization

/// Threads that help a reader with the chunks of a large value, so that it comes back on all cores.
///
/// For restores only: a reader that waits is never queued behind evictions, which have a pool of their own. The reader
/// works too, and is done as soon as the last chunk is, so it never waits for a helper that is busy elsewhere. Threads
/// start with the first large restore, one fewer than there are cores, sleep in between, and end with the pool.
package final class RestorePool: Sendable {
    /// Reads one chunk of what is being restored.
    package typealias Reading = (_ chunk: Int, _ decoder: ChunkDecoder) throws(SpillFailure) -> Void

    private struct State {
        /// Jobs with chunks that nobody has taken.
        var open: [Job] = []
        var threads = 0
        var isStopped = false
    }

    /// What helpers know, without keeping the pool alive.
    private let state = ConditionLock(State())
    private let limit: Int

    /// A pool of at most `helpers` threads beside the reader's own.
    init(helpers: Int = min(7, Int(pk_usable_cpus()) - 1)) { limit = helpers }

    deinit { state.withLock { $0.isStopped = true } }

    /// Has all chunks read, on this thread and others, whose decoders are of `decoders`. Blocks until no thread works on
    /// any of them.
    ///
    /// - Throws: the failure of the first chunk that failed; the others may be left out then.
    package func read(
        chunks: Int,
        with decoder: ChunkDecoder,
        others decoders: DecoderPool,
        _ reading: Reading
    ) throws(SpillFailure) {
        guard chunks > 1, limit > 0 else {
            for chunk in 0..<chunks { try reading(chunk, decoder) }
            return
        }
        let failure = withoutActuallyEscaping(reading) { reading -> SpillFailure? in
            let job = Job(chunks: chunks, decoders, reading)
            offer(job)
            job.work(with: decoder)
            state.withLock { state in state.open.removeAll { $0 === job } }
            // Nobody begins any more; whoever has begun still holds `reading`.
            state.wait { _ in job.helpers == 0 ? () : nil }
            // A helper may hold the job a moment longer, but looks at nothing in it.
            job.reading = nil
            return job.failure.withLock { $0 }
        }
        if let failure { throw failure }
    }

    /// Shows the job to the helpers, after starting one if there are fewer than there may be.
    private func offer(_ job: Job) {
        let starts = state.withLock { state in
            state.open.append(job)
            guard state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        guard starts else { return }
        do throws(PressureError) {
            try WorkerThread.spawn("pk-restore") { [state] in Self.help(state) }
        } catch {
            // The reader reads alone, which takes longer and is no failure.
            state.withLock { $0.threads -= 1 }
        }
    }

    /// A helper's life.
    private static func help(_ state: ConditionLock<State>) {
        while true {
            let job: Job?? = state.wait { state in
                guard let job = state.open.last else { return state.isStopped ? .some(nil) : nil }
                job.helpers += 1
                return job
            }
            guard let job = job ?? nil else { return }
            if let decoder = try? job.decoders.take() {
                job.work(with: decoder)
                job.decoders.giveBack(decoder)
            }
            state.withLock { state in
                job.helpers -= 1
                // Its chunks are all taken, or this helper has no memory to help with: not looked at again.
                state.open.removeAll { $0 === job }
            }
        }
    }

    /// The chunks of one value.
    private final class Job: @unchecked Sendable {
        // Sendable: constants and atomics, but for `helpers`, which the pool's lock guards, and `reading`, which is let go
        // when no helper is left.
        private let chunks: Int
        let decoders: DecoderPool
        var reading: Reading?
        private let next = Atomic<Int>(0)
        let failure = Lock<SpillFailure?>(nil)
        /// How many helpers are at work.
        var helpers = 0

        init(chunks: Int, _ decoders: DecoderPool, _ reading: @escaping Reading) {
            self.chunks = chunks
            self.decoders = decoders
            self.reading = reading
        }

        /// Reads chunks until all are taken.
        func work(with decoder: ChunkDecoder) {
            while true {
                let chunk = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard chunk < chunks else { return }
                do throws(SpillFailure) {
                    try reading?(chunk, decoder)
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                    next.store(chunks, ordering: .relaxed)
                }
            }
        }
    }
}
