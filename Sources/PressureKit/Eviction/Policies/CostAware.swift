/// The least expected cost for each byte freed, within classes: `(p(reuse) × return cost + write cost) / bytes`.
///
/// **Why a ratio.** A relief has to free a number of bytes at the least cost to come, which is a knapsack, and taking
/// what costs least per byte solves it but for the last victim. GreedyDual-Size (Cao and Irani, USITS 1997) and its
/// descendants rank by cost over size too. They need an inflating offset because a queue keeps ranks from different
/// times; here all ranks are computed at one moment, so age enters as what it is, a probability.
///
/// **Return cost** is a restore's if there is or will be a copy, else the loader's: whichever is cheaper, measured for
/// each cache. **Write cost** is paid now, while somebody is waiting for the memory.
///
/// **p(reuse)** is the probability that the value is used again before the next relief, `horizon` ticks from now; what
/// happens after that, the next plan decides. With `T` for the horizon, `a` for the age and `h` for the hits,
/// `p = 1 − (a / (a + T))^(h + 1)`. That is what follows when uses are a Poisson process of unknown rate that has shown
/// `h + 1` uses within `a` ticks (a gamma-distributed rate, so a Lomax-distributed time to the next use). For a short
/// horizon it is `(h + 1) × T / a`, the order of hyperbolic caching (Blankstein et al., ATC 2017); for equal costs, sizes
/// and hits it is exactly least recently used.
///
/// **A refault** was a wrong guess: the value came back before the horizon. It counts as used at least once in every
/// horizon, `p ≥ 1/2`, until a relief has spared it: its grace.
///
/// **Rounding**: costs are noisy averages, so ranks that differ by less than 1 % are equal (the upper 15 bits of a
/// `Float`, as CAMP keeps a few significant bits: Ghandeharizadeh et al., Middleware 2014), and of equals the least
/// recently used goes first.
package struct CostAware: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "cost" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        let cost = Self.reuseProbability(candidate, at: moment) * candidate.returnCost + candidate.writeCost
        let perByte = cost / Float(max(1, candidate.footprint))
        // The bits of floats that are not negative are in the order of their values; the sign bit is 0.
        let rounded = UInt64(perByte.bitPattern >> 16)
        let age = min(candidate.age(at: moment.now), 0x7FFF_FFFF)
        return candidate.rank(rounded << 31 | UInt64(0x7FFF_FFFF - age))
    }

    /// The probability that a value is used before the horizon.
    package static func reuseProbability(_ candidate: Candidate, at moment: PlanMoment) -> Float {
        let age = Float(candidate.age(at: moment.now)) + 1
        let quiet = age / (age + Float(moment.horizon))
        var unused = quiet
        var hits = candidate.hits
        while hits > 0 {
            unused *= quiet
            hits -= 1
        }
        let probability = 1 - unused
        return candidate.hasRefaulted ? max(probability, 0.5) : probability
    }
}
