import PressureKit
import SampleContent
import Synchronization

/// The demonstration's work: one thread loads the working set at a steady rate, another reads back at random what was
/// loaded and compares it, and at the end everything is compared.
final class SurvivalLoad: Sendable {
    /// What has been done so far.
    struct Tally: Hashable, Sendable, Codable {
        /// Values loaded.
        var loaded = 0
        /// Reads, while values were being loaded, that gave the right bytes.
        var verified = 0
        /// Values that were right at the end.
        var verifiedAtEnd = 0
        /// Reads that gave the wrong bytes or none.
        var lost = 0
        /// Reads of values that only a disk held which was gone, and which were told so by an error that names the
        /// cache. They are not lost reads.
        var refused = 0
        /// Values of which that was so at the end.
        var refusedAtEnd = 0
        /// What was wrong, as far as it differs, with the first few.
        var losses: [String] = []
    }

    private let plan: SurvivalPlan
    private let store: any SurvivalStore
    private let values: SurvivalValues
    private let loaded = Atomic<Int>(0)
    private let isLoading = Atomic<Bool>(true)
    private let state = Lock(Tally())
    private let disk: SurvivalDisk?

    init(plan: SurvivalPlan, store: any SurvivalStore, values: SurvivalValues) {
        disk = plan.outage.map { SurvivalDisk($0, count: plan.count) }
        self.plan = plan
        self.store = store
        self.values = values
    }

    /// What has been done so far.
    var tally: Tally { state.withLock { $0 } }

    /// Blocks until all is done.
    ///
    /// - Parameter tell: hears how many values have been loaded, on the loading thread.
    /// - Throws: what kept a value from being loaded.
    func run(tell: @escaping @Sendable (Int) -> Void) throws {
        let failures = RunFailures()
        try Blocking.parallel(2) { [self] index in
            do {
                if index == 0 { try load(tell) } else { readAtRandom() }
            } catch {
                failures.note(error)
            }
        }
        try failures.rethrow()
        readAll()
    }

    private func load(_ tell: (Int) -> Void) throws {
        defer { isLoading.store(false, ordering: .releasing) }
        let clock = SystemClock()
        var start = clock.now()
        for key in 0..<plan.count {
            let values = values
            try store.load(key) { values.make($0) }
            loaded.store(key + 1, ordering: .releasing)
            state.withLock { $0.loaded = key + 1 }
            tell(key + 1)
            try disk?.loaded(key + 1)
            // Time lost is not made up for: the rate is never more than was asked for.
            let due = Duration.seconds(Double((key + 1) * plan.valueSize.bytes) / plan.rate)
            let early = due - (clock.now() - start)
            if early > .zero { Pause.sleep(early) } else { start = start + (.zero - early) }
        }
    }

    private func readAtRandom() {
        var random = SplitMix64(seed: 0x7EAD)
        while isLoading.load(ordering: .acquiring) {
            let count = loaded.load(ordering: .acquiring)
            guard count > 0 else {
                Pause.sleep(.milliseconds(1))
                continue
            }
            check(Int(random.next() % UInt64(count)), \.verified, \.refused)
        }
    }

    /// In another order than they were loaded in: what was loaded last is in memory, and would hide the rest.
    private func readAll() {
        var random = SplitMix64(seed: 0xA11)
        for key in (0..<tally.loaded).shuffled(using: &random) {
            check(key, \.verifiedAtEnd, \.refusedAtEnd)
        }
    }

    private func check(_ key: Int, _ good: WritableKeyPath<Tally, Int>, _ refused: WritableKeyPath<Tally, Int>) {
        let turns = disk?.turns
        var complaint: String?
        do {
            let isRight = try store.read(key) { values.knows($0, as: key) }
            if !isRight { complaint = "value \(key) has come back changed" }
        } catch {
            if let disk, disk.excuses(error, key, since: turns) {
                return state.withLock { $0[keyPath: refused] += 1 }
            }
            complaint = "value \(key): \(error.words)"
        }
        state.withLock { tally in
            guard let complaint else { return tally[keyPath: good] += 1 }
            tally.lost += 1
            if tally.losses.count < 5, !tally.losses.contains(complaint) { tally.losses.append(complaint) }
        }
    }
}
