/// What a plan is expected to come to. Pure sums over its victims.
package struct PlanPrediction: Hashable, Sendable {
    /// Bytes that come back.
    package var bytes = 0
    /// Nanoseconds of one thread to release what needs no copy, and what has got one.
    package var releaseTime: Double = 0
    /// Nanoseconds of one thread to write the copies.
    package var writeTime: Double = 0
    /// Nanoseconds that readers will wait for victims before the next reclaim: what each costs to bring back, times the
    /// probability that somebody wants it.
    package var futureCost: Double = 0

    /// A prediction for no victims.
    package init() {}

    /// Adds a victim.
    package mutating func add(_ victim: Candidate, at moment: PlanMoment) {
        bytes += victim.footprint
        releaseTime += Double(CostEstimate.release(byteCount: victim.footprint))
        if victim.method.needsCopy { writeTime += Double(victim.writeCost) }
        futureCost += Double(CostAware.reuseProbability(victim, at: moment) * victim.returnCost)
    }

    /// Adds another round's.
    package static func += (left: inout PlanPrediction, right: PlanPrediction) {
        left.bytes += right.bytes
        left.releaseTime += right.releaseTime
        left.writeTime += right.writeTime
        left.futureCost += right.futureCost
    }
}
