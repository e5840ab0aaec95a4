import PressureKit
import Synchronization

/// The reads: threads that fill the store once, and then read from it at random until a moment, each read timed and
/// looked at.
final class WorthLoad: Sendable {
    /// What one process read in the time that counts.
    struct Tally: Sendable {
        var latencies = Latencies()
        /// Reads that gave the bytes of another value, or too few; at any time.
        var wrong = 0
        /// Reads that failed; at any time.
        var failed = 0
        /// The first few things that were wrong.
        var complaints: [String] = []

        mutating func add(_ other: Tally) {
            latencies.add(other.latencies)
            wrong += other.wrong
            failed += other.failed
            complaints += other.complaints.prefix(max(5 - complaints.count, 0))
        }

        /// Takes down how a read ended.
        fileprivate mutating func note(_ result: Result<Bool, any Error>, _ key: Int) {
            let complaint: String
            switch result {
            case .success(true): return
            case .success(false):
                wrong += 1
                complaint = "value \(key) is another one"
            case .failure(let error):
                failed += 1
                complaint = "value \(key): \(error.words)"
            }
            if complaints.count < 5 { complaints.append(complaint) }
        }
    }

    /// A reader's own count, on a cache line of its own, and what it takes down. In memory from the beginning: of 64 readers
    /// that is 9 MiB, which must not come when all is full.
    private final class Reader: Sendable {
        private let before: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
        let reads = Atomic<Int>(0)
        private let behind: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
        private let kept = Lock<Tally?>(Tally())

        var tally: Tally? { kept.withLock { $0 } }

        /// Has the one thread that reads take things down, without a copy and without a lock.
        func note(_ body: (inout Tally) -> Void) {
            var tally = kept.withLock { $0.take() } ?? Tally()
            body(&tally)
            kept.withLock { $0 = tally }
        }
    }

    private let job: WorthJob
    private let store: any WorthStore
    private let keys: WorthKeys
    private let clock: any MonotonicClock
    private let readers: [Reader]

    init(_ job: WorthJob, _ store: any WorthStore, clock: any MonotonicClock = SystemClock()) {
        self.job = job
        self.store = store
        self.clock = clock
        keys = WorthKeys(count: job.count, alpha: job.zipf)
        readers = (0..<job.readers).map { _ in Reader() }
    }

    /// Reads since the beginning, but for those that filled the store.
    var reads: Int { readers.reduce(0) { $0 + $1.reads.load(ordering: .relaxed) } }

    /// What was read; complete when ``read(_:)`` has returned.
    var tally: Tally {
        var all = Tally()
        for case let tally? in readers.map(\.tally) { all.add(tally) }
        return all
    }

    /// Reads once what fits the limit, the most popular last. Blocks until that is done.
    func fill() throws {
        try Blocking.parallel(job.readers) { [self] reader in
            readers[reader].note { tally in
                for rank in stride(from: min(job.fillCount, job.count) - reader, to: 0, by: -job.readers) {
                    read(keys.key(ofRank: rank), &tally)
                }
            }
        }
    }

    /// Reads at random. Blocks until the end of the time that counts.
    func read(_ window: WorthWindow) throws {
        try Blocking.parallel(job.readers) { [self] reader in
            let own = readers[reader]
            own.note { read(window, as: own, SplitMix64(seed: job.seed, stream: UInt64(reader)), &$0) }
        }
    }

    private func read(_ window: WorthWindow, as reader: Reader, _ random: consuming SplitMix64, _ tally: inout Tally) {
        var count = 0
        var stop = clock.now()
        while stop.nanoseconds < window.to {
            let key = keys.next(&random)
            let start = clock.now()
            read(key, &tally)
            stop = clock.now()
            count += 1
            reader.reads.store(count, ordering: .relaxed)
            // A read that had begun when the time was over had to be waited for as well.
            if stop.nanoseconds >= window.from, start.nanoseconds < window.to {
                tally.latencies.record(nanoseconds: (stop - start).nanoseconds)
            }
            if let pause = job.pause { Pause.sleep(.nanoseconds(pause)) }
        }
    }

    private func read(_ key: Int, _ tally: inout Tally) {
        let number = job.firstKey + key
        let result = Result { try store.read(number) { job.content.knows($0, as: number) } }
        if case .success(true) = result { return }
        tally.note(result, number)
    }
}

/// The time that counts, on the clock of the machine: the same for all processes.
struct WorthWindow: Hashable, Sendable, Codable {
    /// When the store had been filled and the reads began.
    var start: Int64
    var from: Int64
    var to: Int64

    var seconds: Double { Double(to - from) / 1e9 }

    func contains(_ instant: MonotonicInstant) -> Bool { from..<to ~= instant.nanoseconds }
}
