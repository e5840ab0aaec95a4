/// SIEVE (Zhang et al., NSDI 2024), for batches, within classes.
///
/// The queue is the order of arrival. A hand goes from the oldest to the newest and starts over at the end; it takes
/// what was not used since it last came by, and spares the rest once, forgetting its use. What is spared keeps its
/// place, so the hand soon comes to the newest arrivals: one-time wonders go early.
///
/// A batch is what the hand would take one by one: first, from the hand on, all that is unused; then, in a second lap,
/// what it spared in the first. That is an order, so it can be written as a rank. Different from the original: with
/// classes, each class is a lap of its own, and uses between two ticks of the ``UseClock`` count as one with the arrival.
package struct Sieve: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "sieve" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        candidate.rank((candidate.hits > 0 ? 1 << 32 : 0) | UInt64(distance(to: candidate, at: moment)))
    }

    package func hand(afterTaking victim: Candidate, at moment: PlanMoment) -> UInt32 { victim.arrival &+ 1 }

    package func hits(afterSparing candidate: Candidate, last: Candidate, at moment: PlanMoment) -> UInt8 {
        guard candidate.evictionClass == last.evictionClass else { return candidate.hits }
        // In its second lap the hand has passed all of them.
        let isPassed = last.hits > 0 || distance(to: candidate, at: moment) < distance(to: last, at: moment)
        return isPassed ? 0 : candidate.hits
    }

    /// How far the hand has to go to a candidate: to what arrived after where it stands first, then, past the newest,
    /// to the oldest.
    private func distance(to candidate: Candidate, at moment: PlanMoment) -> UInt32 { candidate.arrival &- moment.hand }
}
