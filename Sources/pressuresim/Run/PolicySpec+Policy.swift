import PressureKit
import ScenarioLanguage

extension PolicySpec {
    /// The order that a scenario names.
    var policy: any EvictionPolicy {
        switch self {
        case .costAware: CostAware()
        case .leastRecentlyUsed: LeastRecentlyUsed()
        case .sieve: Sieve()
        case .largestFirst: LargestFirst()
        case .smallestFirst: LowestCostFirst()
        case .everything: PurgeEverything()
        }
    }
}
