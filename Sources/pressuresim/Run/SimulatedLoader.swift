import Glibc
import PressureKit
import SampleContent
import ScenarioLanguage
import Synchronization

/// What a loader of the scenario throws on purpose.
struct SimulatedLoaderFailure: Error, Hashable {}

/// The cost and the failures that a scenario gives its loaders.
final class SimulatedLoader: Sendable {
    private let spec: LoaderSpec
    private let random: Lock<SplitMix64>
    /// Cleared while everything is verified at the end: that is no part of what is measured.
    private let isActive: ActiveFlag
    private let pace: any Pace
    /// What making 1,024 bytes took the last time, in nanoseconds; 0 until it is known, and in virtual time.
    private let making = Atomic<Int>(0)

    init(
        _ spec: LoaderSpec,
        seed: UInt64,
        stream: UInt64,
        isActive: ActiveFlag,
        pace: any Pace = RealPace()
    ) {
        self.spec = spec
        self.pace = pace
        self.isActive = isActive
        random = Lock(SplitMix64(seed: seed, stream: stream))
    }

    /// Makes a value of so many bytes, takes as long for it as the scenario says, and fails as it says. Blocking; any thread.
    ///
    /// Making the bytes is part of the cost, so that a load takes longer only where making them does. It comes last, once it
    /// is known how long it takes: until then a loader that waits for a network has nothing in memory either.
    ///
    /// - Parameter own: what this value costs; `nil` for what any of them does.
    func load<Value>(_ byteCount: Int, cost own: Duration? = nil, _ make: () throws -> Value) throws -> Value {
        guard isActive.isSet else { return try make() }
        let (least, most) = (spec.cost.lowerBound, spec.cost.upperBound)
        // A cost that is no range asks for no random number.
        let cost = own ?? (least == most ? least : random.withLock { least + (most - least) * $0.unit() })
        if spec.failure > 0, random.withLock({ $0.unit() }) < spec.failure {
            spend(cost)
            throw SimulatedLoaderFailure()
        }
        let clock = pace.clock
        let start = clock.now()
        let making = making.load(ordering: .relaxed)
        if making > 0 { spend(cost - .nanoseconds(Int64(making) * Int64(byteCount) / 1024)) }
        let begun = clock.now()
        let value = try make()
        let end = clock.now()
        if byteCount > 0 {
            self.making.store(Int((end - begun).nanoseconds * 1024 / Int64(byteCount)), ordering: .relaxed)
        }
        spend(cost - (end - start))
        return value
    }

    private func spend(_ duration: Duration) {
        if duration > .zero { pace.spend(duration) }
    }
}

/// A flag that several threads look at.
final class ActiveFlag: Sendable {
    private let flag = Atomic<Bool>(true)

    var isSet: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}

/// Sleeping, for threads of the tool's own; never for a cooperative one.
enum Pause {
    static func sleep(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            // usleep takes less than a second on some systems.
            usleep(UInt32(min(left / .microseconds(1), 900_000).rounded(.up)))
        }
    }
}
