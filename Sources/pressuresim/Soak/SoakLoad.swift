import PressureKit
import SampleContent
import Synchronization

/// The soak's work: two threads that read values and compare every byte, and now and then change one.
final class SoakLoad: Sendable {
    /// What has been done so far.
    struct Tally: Hashable, Sendable, Codable {
        /// Reads that gave the right bytes.
        var reads = 0
        /// Changes.
        var changes = 0
        /// Values that were right at the end.
        var rightAtEnd = 0
        /// Reads that gave wrong bytes, old ones or none.
        var lost = 0
        /// What was wrong, the first few.
        var losses: [String] = []
    }

    private struct State {
        var tally = Tally()
        /// Since the last window.
        var restores = Latencies()
    }

    private let plan: SoakPlan
    let values: SoakValues
    /// Values that no loader makes.
    private let documents: KeyedCache<Int, PageBuffer>
    /// Values that a loader makes, until they are changed.
    private let tiles: KeyedCache<Int, PageBuffer>
    private let state = Lock(State())

    init(_ plan: SoakPlan, _ controller: PressureController) throws {
        self.plan = plan
        let values = SoakValues(count: plan.count, size: plan.valueBytes)
        self.values = values
        documents = try controller.keyedCache("documents", key: Int.self, value: PageBuffer.self)
        tiles = try controller.keyedCache("tiles") { values.make($0) }
        // Too many for a saved state that is written every few seconds.
        documents.isRestorable = false
        tiles.isRestorable = false
    }

    /// What has been done so far.
    var tally: Tally { state.withLock { $0.tally } }

    /// The latencies of restores since this was last asked.
    func takeRestores() -> Latencies {
        state.withLock { state in
            defer { state.restores = Latencies() }
            return state.restores
        }
    }

    /// Notes something that was wrong.
    func lose(_ complaint: String) {
        state.withLock { state in
            state.tally.lost += 1
            if state.tally.losses.count < 5 { state.tally.losses.append(complaint) }
        }
    }

    /// Makes the values that no loader makes. Blocks.
    func fill() {
        for key in stride(from: 0, to: plan.count, by: 2) {
            documents.set(values.make(key), for: key)
            // At half a gigabyte a second this would be another test, and there is one.
            Pause.sleep(.milliseconds(1))
        }
    }

    /// Reads and changes until the time is over. Blocks.
    ///
    /// - Throws: `PressureError` where no thread is left.
    func run(until end: MonotonicInstant) throws {
        try Blocking.parallel(Self.threads) { [self] thread in
            var random = SplitMix64(seed: 0x50AC, stream: UInt64(thread))
            let clock = SystemClock()
            let pause = Duration.seconds(Double(Self.threads) / plan.rate)
            while true {
                let now = clock.now()
                guard now < end else { return }
                if random.next() % UInt64(SoakPlan.readsPerChange) == 0 {
                    change(pick(&random, hot: true), thread)
                } else {
                    read(pick(&random, hot: random.next() & 1 == 0))
                }
                let spent = clock.now() - now
                if spent < pause { Pause.sleep(pause - spent) }
            }
        }
    }

    private static let threads = 2

    /// Half of the reads, and all changes, go to a tenth of the values: what was changed has to be written, and that is
    /// all of this tenth soon, and no more from then on.
    private func pick(_ random: inout SplitMix64, hot: Bool) -> Int {
        Int(random.next() % UInt64(hot ? max(plan.count / 10, 1) : plan.count))
    }

    private func cache(_ key: Int) -> KeyedCache<Int, PageBuffer> { key.isMultiple(of: 2) ? documents : tiles }

    /// Reads one value. Returns whether it was right.
    @discardableResult private func read(_ key: Int) -> Bool {
        let cache = cache(key)
        let clock = SystemClock()
        let oldest = values.done(key)
        let isRestore = cache.residency(for: key) == .spilled
        let start = clock.now()
        var took = Duration.zero
        var complaint: String?
        do {
            complaint = try cache.withValue(for: key) { value in
                took = clock.now() - start
                return values.complaint(value, key, oldest: oldest)
            }
        } catch {
            complaint = "value \(key): \(error.words)"
        }
        if let complaint {
            lose(complaint)
            return false
        }
        state.withLock { state in
            state.tally.reads += 1
            if isRestore { state.restores.record(nanoseconds: took.nanoseconds) }
        }
        return true
    }

    /// Changes a value near `near`: each thread has its own, of both caches, and reads all.
    private func change(_ near: Int, _ thread: Int) {
        let own = near / (2 * Self.threads) * (2 * Self.threads) + 2 * thread
        let key = min(own + near % 2, plan.count - 1)
        guard key >= own else { return }
        let version = values.begin(key)
        do {
            try cache(key).update(for: key) { values.stamp(&$0, key, version: version) }
            values.end(key, version: version)
            state.withLock { $0.tally.changes += 1 }
        } catch {
            lose("value \(key) could not be changed: \(error.words)")
        }
    }

    /// Reads everything once more. Blocks.
    func readAll() {
        var random = SplitMix64(seed: 0xA11)
        for key in (0..<plan.count).shuffled(using: &random) where read(key) {
            state.withLock { $0.tally.rightAtEnd += 1 }
        }
    }
}
