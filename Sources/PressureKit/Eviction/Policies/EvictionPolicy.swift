/// In which order values leave memory. Pure: a rank for each candidate, the lowest goes first.
package protocol EvictionPolicy: Sendable {
    /// The name under which reports and the tool know it.
    var name: String { get }

    /// Whether every plan takes all there is, whatever was asked for.
    var takesEverything: Bool { get }

    /// Whether plans keep a record of each value's uses (``UseRecord``) and learn from it. The others see the hits.
    var learnsUses: Bool { get }

    /// The rank of a candidate. Ranks above ``Planner/highestRank`` count as that.
    func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64

    /// Where the hand stops after the victim with the highest rank; by default there is none, and it stays.
    func hand(afterTaking victim: Candidate, at moment: PlanMoment) -> UInt32

    /// What is left of the hits of a candidate that a plan has spared, whose victim with the highest rank was `last`:
    /// half of them by default, so that use long ago counts less and less (the ageing of TinyLFU, Einziger et al., ACM
    /// TOS 2017).
    func hits(afterSparing candidate: Candidate, last: Candidate, at moment: PlanMoment) -> UInt8

    /// Ranks all candidates. The default does it one by one; it is a requirement so that it is compiled for each policy.
    func rankAll(
        _ candidates: UnsafeBufferPointer<Candidate>,
        into choices: UnsafeMutableBufferPointer<Planner.Choice>,
        at moment: PlanMoment
    )
}

extension EvictionPolicy {
    package var takesEverything: Bool { false }

    package var learnsUses: Bool { false }

    package func hand(afterTaking victim: Candidate, at moment: PlanMoment) -> UInt32 { moment.hand }

    package func hits(afterSparing candidate: Candidate, last: Candidate, at moment: PlanMoment) -> UInt8 {
        moment.fades ? candidate.hits / 2 : candidate.hits
    }

    package func rankAll(
        _ candidates: UnsafeBufferPointer<Candidate>,
        into choices: UnsafeMutableBufferPointer<Planner.Choice>,
        at moment: PlanMoment
    ) {
        // As many choices as candidates, says the planner.
        for index in 0..<candidates.count {
            let rank = unsafe min(rank(candidates[index], at: moment), Planner.highestRank)
            unsafe choices[index] = Planner.Choice(rank: rank, index: UInt32(truncatingIfNeeded: index))
        }
    }

    /// The rank of a candidate at a reading of the ``UseClock``, with nothing else known.
    package func rank(_ candidate: Candidate, now: UInt32) -> UInt64 { rank(candidate, at: PlanMoment(now: now)) }
}

extension Candidate {
    /// The class above everything else that a rank may say.
    func rank(_ rest: UInt64) -> UInt64 { UInt64(evictionClass) << 46 | rest }
}
