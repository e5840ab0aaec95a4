/// The least expected cost for each byte freed, within classes: `(expected uses × return cost + write cost) / bytes`.
///
/// **Why a ratio.** A reclaim has to free a number of bytes at the least cost to come, which is a knapsack, and taking
/// what costs least per byte solves it but for the last victim. GreedyDual-Size (Cao and Irani, USITS 1997) and its
/// descendants rank by cost over size too. They need an inflating offset because a queue keeps ranks from different
/// times; here all ranks are computed at one moment.
///
/// **Return cost** is a restore's if there is or will be a copy, else the loader's: whichever is cheaper, measured for
/// each cache. **Write cost** is paid now, while somebody is waiting for the memory.
///
/// **Expected uses**, for each turnover that the value is kept, are learned (``ReuseTable``) from what plans see: how long
/// values that had been used so often took to be used again, in memory or after they were dropped. No one order is right:
/// in a hot set that moves what was used last is needed next, in a loop that does not fit it is what is needed last, where
/// few keys are wanted more than others how often says more than when, and after a scan what is new is worth nothing. Until
/// something was learned, the order is least recently used for values that were used once, and hyperbolic caching
/// (Blankstein et al., ATC 2017) for the others.
///
/// **Probabilities of reuse** before the next reclaim, `horizon` ticks from now, are only for predictions and for the last
/// victim. With `T` for the horizon and `a` for the age, `p = 1 − (a / (a + T))^k`, `k` being 1 for a value that was used
/// once and 2 for one that was used again: uses are then a Poisson process of unknown rate that has shown `k` uses within
/// `a` ticks. A value that came back before the horizon counts as `p ≥ 1/2` until a reclaim has spared it.
///
/// **Rounding**: costs are noisy averages, so ranks that differ by less than 1 % are equal (the upper 15 bits of a
/// `Float`, as CAMP keeps a few significant bits: Ghandeharizadeh et al., Middleware 2014), and of equals the least
/// recently used goes first.
package struct CostAware: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "cost" }

    package var learnsUses: Bool { true }

    /// Hits are in the record of uses already.
    package func hits(afterSparing candidate: Candidate, last: Candidate, at moment: PlanMoment) -> UInt8 { 0 }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        let age = candidate.age(at: moment.now)
        let uses = moment.worth.value(level: candidate.level, age: Float(age), moment.scale)
        let perByte = (uses * candidate.returnCost + candidate.writeCost) / Float(max(1, candidate.footprint))
        // The bits of floats that are not negative are in the order of their values; the sign bit is 0.
        let rounded = UInt64(perByte.bitPattern >> 16)
        return candidate.rank(rounded << 31 | UInt64(0x7FFF_FFFF - min(age, 0x7FFF_FFFF)))
    }

    /// What losing a value is expected to cost, in nanoseconds.
    package static func expectedCost(_ candidate: Candidate, at moment: PlanMoment) -> Float {
        reuseProbability(candidate, at: moment) * candidate.returnCost + candidate.writeCost
    }

    /// The probability that a value is used before the horizon.
    package static func reuseProbability(_ candidate: Candidate, at moment: PlanMoment) -> Float {
        let age = Float(candidate.age(at: moment.now)) + 1
        let quiet = age / (age + Float(moment.horizon))
        let probability = 1 - (candidate.hits > 0 || candidate.level > 0 ? quiet * quiet : quiet)
        return candidate.hasRefaulted ? max(probability, 0.5) : probability
    }
}
