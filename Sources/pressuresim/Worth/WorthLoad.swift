import Histogram
import PressureKit
import SampleContent
import Synchronization

/// The reads: threads that fill the store once, and then read from it at random until a moment, each read timed and
/// looked at.
final class WorthLoad: Sendable {
    /// What one process read in the time that counts.
    struct Tally: Sendable {
        var latencies: Latencies
        /// Reads that gave the bytes of another value, or too few; at any time.
        var wrong = 0
        /// Reads that failed; at any time.
        var failed = 0
        /// The first few things that were wrong.
        var complaints: [String] = []

        /// - Parameter readers: How many keep one each. It is memory below the limit, where a program has none of the kind: of
        ///   64 it were 9 MiB, with a digit more than a ratio is told to.
        init(readers: Int) { latencies = Latencies(digits: readers > 8 ? .two : .three) }

        mutating func add(_ other: Tally) {
            latencies.add(other.latencies)
            wrong += other.wrong
            failed += other.failed
            complaints += other.complaints.prefix(max(5 - complaints.count, 0))
        }

        /// Takes down how a read ended.
        fileprivate mutating func note(_ fault: Fault) {
            switch fault.error {
            case nil: wrong += 1
            case _?: failed += 1
            }
            if complaints.count < 5 { complaints.append(fault.words) }
        }
    }

    /// A read that gave the wrong bytes, or failed.
    fileprivate struct Fault {
        var number: Int
        var error: (any Error)?

        var words: String { error.map { "value \(number): \($0.words)" } ?? "value \(number) is another one" }
    }

    /// A reader's own count, on a cache line of its own, and what it takes down. In memory from the beginning: it must not come
    /// when all is full.
    private final class Reader: Sendable {
        private let before: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
        let reads = Atomic<Int>(0)
        private let behind: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
        private let kept: Lock<Tally?>

        init(_ tally: Tally) { kept = Lock(tally) }

        var tally: Tally? { kept.withLock { $0 } }

        /// Has the one thread that reads take things down, without a copy and without a lock.
        func note(_ body: (inout Tally) -> Void) {
            guard var tally = kept.withLock({ $0.take() }) else { return }
            body(&tally)
            kept.withLock { $0 = tally }
        }
    }

    private let job: WorthJob
    private let store: any WorthStore
    private let keys: WorthKeys
    private let clock: any MonotonicClock
    private let readers: [Reader]
    /// What was wrong while the store was filled.
    private let filling: Lock<Tally>

    init(_ job: WorthJob, _ store: any WorthStore, clock: any MonotonicClock = SystemClock()) {
        self.job = job
        self.store = store
        self.clock = clock
        keys = WorthKeys(count: job.count, alpha: job.zipf)
        readers = (0..<job.readers).map { _ in Reader(Tally(readers: job.readers)) }
        filling = Lock(Tally(readers: job.readers))
    }

    /// Reads since the beginning, but for those that filled the store.
    var reads: Int { readers.reduce(0) { $0 + $1.reads.load(ordering: .relaxed) } }

    /// What was read; complete when ``read(_:)`` has returned.
    var tally: Tally {
        var all = filling.withLock { $0 }
        for case let tally? in readers.map(\.tally) { all.add(tally) }
        return all
    }

    /// Reads the most popular values once, or all, the most popular last. Blocks until that is done.
    func fill() throws {
        let fillers = max(job.readers, job.source.fillers)
        try Blocking.parallel(fillers) { [self] filler in
            for rank in stride(from: min(job.fillCount, job.count) - filler, to: 0, by: -fillers) {
                guard let fault = fault(reading: keys.key(ofRank: rank)) else { continue }
                filling.withLock { $0.note(fault) }
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
            let fault = fault(reading: key)
            stop = clock.now()
            if let fault { tally.note(fault) }
            count += 1
            reader.reads.store(count, ordering: .relaxed)
            // A read that had begun when the time was over had to be waited for as well.
            if stop.nanoseconds >= window.from, start.nanoseconds < window.to {
                tally.latencies.record(nanoseconds: (stop - start).nanoseconds)
            }
            if let pause = job.pause { Pause.sleep(.nanoseconds(pause)) }
        }
    }

    /// Reads a value; returns what was wrong with it.
    private func fault(reading key: Int) -> Fault? {
        let number = job.firstKey + key
        do {
            return try store.read(number) { job.content.knows($0, as: number) } ? nil : Fault(number: number)
        } catch {
            return Fault(number: number, error: error)
        }
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
