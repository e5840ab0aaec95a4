import Glibc
import PressureKit
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

    /// Takes its time and fails as the scenario says. Blocking; any thread.
    func perform() throws(SimulatedLoaderFailure) {
        guard isActive.isSet else { return }
        let (least, most) = (spec.cost.lowerBound, spec.cost.upperBound)
        // A cost that is no range asks for no random number.
        let cost = least == most ? least : random.withLock { least + (most - least) * $0.unit() }
        if cost > .zero { pace.spend(cost) }
        if spec.failure > 0, random.withLock({ $0.unit() }) < spec.failure { throw SimulatedLoaderFailure() }
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
