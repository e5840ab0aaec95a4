/// In which order values leave memory.
///
/// Values in use never leave, whatever the order; and values that have to leave together go children before parents.
/// All orders put what costs nothing to release before what has to be written, and the values of hidden controllers before
/// those of visible ones.
///
/// While others take memory this very moment, values below 16 KiB that say where they lie, arrays and strings, leave in runs of 64 KiB
/// of the heap, those first whose values this order would have leave first on average: of what leaves here and there few pages come
/// free.
public enum EvictionOrder: String, Sendable, Hashable, CaseIterable {
    /// What is cheapest for each byte freed: a value's measured cost to bring it back, times the probability that it
    /// will be wanted, plus the cost of writing it. The default.
    case costAware
    /// The least recently used first.
    case leastRecentlyUsed
    /// SIEVE (NSDI 2024): the oldest that was not used since the last look, for values that are mostly used once.
    case sieve
    /// The largest first: the fewest evictions.
    case largestFirst

    /// The policy that makes this order.
    package var policy: any EvictionPolicy {
        switch self {
        case .costAware: CostAware()
        case .leastRecentlyUsed: LeastRecentlyUsed()
        case .sieve: Sieve()
        case .largestFirst: LargestFirst()
        }
    }
}
