/// The least expected cost for each byte freed, within classes: `(p(reuse) × return cost + write cost) / bytes`.
///
/// **Why a ratio.** A reclaim has to free a number of bytes at the least cost to come, which is a knapsack, and taking
/// what costs least per byte solves it but for the last victim. GreedyDual-Size (Cao and Irani, USITS 1997) and its
/// descendants rank by cost over size too. They need an inflating offset because a queue keeps ranks from different
/// times; here all ranks are computed at one moment, so age enters as what it is, a probability.
///
/// **Return cost** is a restore's if there is or will be a copy, else the loader's: whichever is cheaper, measured for
/// each cache. **Write cost** is paid now, while somebody is waiting for the memory.
///
/// **p(reuse)** is the probability that the value is used again before the next reclaim, `horizon` ticks from now; what
/// happens after that, the next plan decides. With `T` for the horizon and `a` for the age, `p = 1 − (a / (a + T))^k`,
/// `k` being 1 for a value that was used once and 2 for one that was used again. That is what follows when uses are a
/// Poisson process of unknown rate that has shown `k` uses within `a` ticks (a gamma-distributed rate, so a
/// Lomax-distributed time to the next use). For a short horizon it is `k × T / a`, the order of hyperbolic caching
/// (Blankstein et al., ATC 2017), which divides by age too; for equal costs, sizes and hits it is least recently used.
///
/// **Why only once and again.** That a value was used again at all is most of what hits tell, as SIEVE and S3-FIFO show;
/// with all of them in the exponent, streams in which the hot set moves lost up to 8 % against least recently used in
/// simulations, and so at most 4 %. More hits make the evidence last longer: they are halved each time that as many
/// values came in as there are.
///
/// **A refault** was a wrong guess: the value came back before the horizon. It counts as likely to be used in the next
/// one, `p ≥ 1/2`, until a reclaim has spared it: its grace.
///
/// **Rounding**: costs are noisy averages, so ranks that differ by less than 1 % are equal (the upper 15 bits of a
/// `Float`, as CAMP keeps a few significant bits: Ghandeharizadeh et al., Middleware 2014), and of equals the least
/// recently used goes first.
package struct CostAware: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "cost" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        let perByte = Self.expectedCost(candidate, at: moment) / Float(max(1, candidate.footprint))
        // The bits of floats that are not negative are in the order of their values; the sign bit is 0.
        let rounded = UInt64(perByte.bitPattern >> 16)
        let age = min(candidate.age(at: moment.now), 0x7FFF_FFFF)
        return candidate.rank(rounded << 31 | UInt64(0x7FFF_FFFF - age))
    }

    /// What losing a value is expected to cost, in nanoseconds.
    package static func expectedCost(_ candidate: Candidate, at moment: PlanMoment) -> Float {
        reuseProbability(candidate, at: moment) * candidate.returnCost + candidate.writeCost
    }

    /// The probability that a value is used before the horizon.
    package static func reuseProbability(_ candidate: Candidate, at moment: PlanMoment) -> Float {
        let age = Float(candidate.age(at: moment.now)) + 1
        let quiet = age / (age + Float(moment.horizon))
        let probability = 1 - (candidate.hits > 0 ? quiet * quiet : quiet)
        return candidate.hasRefaulted ? max(probability, 0.5) : probability
    }
}
