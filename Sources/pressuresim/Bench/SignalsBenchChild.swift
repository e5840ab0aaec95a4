import Foundation
import PressureKit
import SampleContent

/// The process in the cgroup: has a manager watch, makes memory short, and sees how soon something is freed.
struct SignalsBenchChild: Sendable {
    var kind: SignalsBench.Kind
    var group: MemoryGroup
    var samples: Int
    var directory: String

    /// Nothing will come any more.
    private static let patience = Duration.seconds(5)

    /// Suspends until all is measured.
    func run() async throws -> SignalsBench.Latencies {
        var latencies = SignalsBench.Latencies()
        // Made before anybody watches: writing it makes tasks wait as well.
        let file = kind == .stall ? try ThrashedFile(directory: directory, byteCount: 4 * kind.limit.bytes) : nil
        // Each time a manager of its own: a level takes ten seconds to fall.
        for _ in 0..<samples {
            if let latency = try await sample(file) {
                latencies.milliseconds.append(max(latency.seconds * 1000, 0))
            } else {
                latencies.unanswered += 1
            }
        }
        return latencies
    }

    private func sample(_ file: ThrashedFile?) async throws -> Duration? {
        var configuration = PressureConfiguration()
        configuration.sources = kind == .headroom ? [.automatic] : [.stalls]
        configuration.spillDirectory = directory
        let manager = try PressureManager(configuration: configuration)
        let log = SignalsBenchValue.Log()
        let values = try manager.root.keyedCache("values") { (_: Int) in SignalsBenchValue(log) }
        let (kind, group) = (kind, group)
        let watching = Task { try await manager.run() }
        let latency = try await Blocking.run("signals") { () -> Duration? in
            let keys = 0..<(kind == .headroom ? 64 : 8)
            for key in keys { try values.loadIfNeeded(for: key) }
            // The next sample begins with an empty cgroup.
            defer { for key in keys { values.invalidate(for: key) } }
            let isAnswered = { @Sendable in log.firstFreed != nil }
            let crossed: MonotonicInstant?
            if let file {
                // So that the first look of the library's lies before the waiting.
                Pause.sleep(.milliseconds(100))
                crossed = try StallCrossing(file: file).cross(isAnswered)
            } else {
                while manager.snapshot().available == nil { Pause.sleep(.milliseconds(1)) }
                crossed = HeadroomCrossing(group: group).cross(isAnswered)
            }
            guard let crossed else { return nil }
            let end = SystemClock().now() + Self.patience
            while log.firstFreed == nil, SystemClock().now() < end { Pause.sleep(.milliseconds(1)) }
            return log.firstFreed.map { $0 - crossed }
        }
        watching.cancel()
        try? await watching.value
        await manager.shutdown()
        return latency
    }
}

/// Fills the cgroup at 500 MB/s across the threshold of warning.
struct HeadroomCrossing {
    var group: MemoryGroup

    private static let rate = 500e6
    private static let step = 256 << 10
    /// Never less than this, or the kernel would end the measurement.
    private static let floor = ByteCount.mebibytes(10)

    /// - Parameter isAnswered: whether something was freed already.
    /// - Returns: when the threshold was crossed, rather too early than too late; `nil` if it was not.
    func cross(_ isAnswered: () -> Bool) -> MonotonicInstant? {
        guard let limit = group.limit else { return nil }
        let threshold = PressureThresholds().bytes(of: limit).warningEnter
        let clock = SystemClock()
        var pages = HogPages(.compressible)
        var taken = 0
        var before = clock.now()
        let start = before
        var crossed: MonotonicInstant?
        while !isAnswered(), let available = group.available, available > Self.floor {
            if crossed == nil, available <= threshold { crossed = before }
            before = clock.now()
            pages.take(Self.step)
            taken += Self.step
            let due = start + .seconds(Double(taken) / Self.rate)
            if due > before { Pause.sleep(due - before) }
        }
        // Freed before the threshold was reached, because it was seen coming.
        return crossed ?? (isAnswered() ? clock.now() : nil)
    }
}

/// Reads a file larger than the cgroup at random, from several threads, until they have waited long enough.
struct StallCrossing {
    var file: ThrashedFile

    private static let threads = 3

    /// Between two looks. Not shorter: a read that comes just when the kernel's averages are due brings them up to date
    /// itself, and then the kernel's own round, which alone looks at the triggers of those without privileges, is left out
    /// for two seconds (`psi_show` and `psi_avgs_work`). At 2 ms nearly every round was, at 50 ms one of six.
    private static let pause = Duration.milliseconds(250)

    /// - Parameter isAnswered: whether something was freed already.
    /// - Returns: when the threshold was crossed; `nil` if it was not within ten seconds.
    func cross(_ isAnswered: @escaping @Sendable () -> Bool) throws -> MonotonicInstant? {
        let file = file
        let thresholds = StallThresholds()
        let crossed = Lock<MonotonicInstant?>(nil)
        let lastLook = Lock<MonotonicInstant?>(nil)
        let clock = SystemClock()
        let end = clock.now() + .seconds(10)
        try Blocking.parallel(Self.threads + 1) { index in
            guard index > 0 else {
                var history: [(at: MonotonicInstant, stalled: [Duration])] = []
                while !isAnswered(), clock.now() < end {
                    let before = history.last?.at
                    let now = clock.now()
                    let stalled = StallFile.stalled()
                    history.append((now, stalled))
                    lastLook.withLock { $0 = now }
                    history.removeAll { now - $0.at > thresholds.window }
                    // The library takes the file that crosses first.
                    let growths = zip(stalled, history.first?.stalled ?? stalled).map { $0 - $1 }
                    // Between the last look and this one.
                    if growths.contains(where: { $0 >= thresholds.warning }) {
                        crossed.withLock { $0 = $0 ?? before ?? now }
                    }
                    Pause.sleep(Self.pause)
                }
                return
            }
            var random = SplitMix64(seed: UInt64(index))
            var sum = 0
            while !isAnswered(), clock.now() < end { sum &+= file.touch(&random) }
            // Never so, but the compiler does not know.
            if sum < 0 { crossed.withLock { $0 = nil } }
        }
        // Answered before this one saw it: it was crossed after the last look at the earliest.
        return crossed.withLock { $0 } ?? (isAnswered() ? lastLook.withLock { $0 } : nil)
    }
}
