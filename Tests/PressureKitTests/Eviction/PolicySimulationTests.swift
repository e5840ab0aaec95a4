#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

/// What policies cost readers, for the same bytes freed from the same streams. Only what holds by a wide margin is
/// asserted.
@Suite struct PolicySimulationTests {
    private func stalls(
        _ mix: ThingMix,
        _ stream: AccessStream,
        _ policies: [any EvictionPolicy],
        batch: Double = 0.1
    ) -> [Double] {
        let things = mix.things(200, seed: 7)
        let keys = stream.keys(4000, of: 200, seed: 42)
        let limit = things.reduce(0) { $0 + $1.bytes } * 3 / 10
        return policies.map { policy in
            let batch = Int(Double(limit) * batch)
            return PolicySimulator.run(keys, of: things, limit: limit, batch: batch, policy: policy).stall
        }
    }

    /// Where some values are much dearer than others, knowing that is worth more than anything else.
    @Test(arguments: AccessStream.allCases)
    func oursCostsLessThanHalfWhereCostsDiffer(_ stream: AccessStream) {
        let stalls = stalls(.skewed, stream, [CostAware(), LeastRecentlyUsed(), Sieve(), LowestCostFirst()])
        #expect(stalls[0] <= stalls[1] / 2)
        #expect(stalls[0] <= stalls[2] / 2)
        #expect(stalls[0] <= stalls[3] / 2)
    }

    /// Where they do not, nothing is lost.
    @Test(arguments: AccessStream.allCases, [ThingMix.equal, .proportional])
    func oursIsNotWorseThanLeastRecentlyUsed(_ stream: AccessStream, _ mix: ThingMix) {
        let stalls = stalls(mix, stream, [CostAware(), LeastRecentlyUsed()])
        #expect(stalls[0] <= stalls[1] * 1.05)
    }

    /// Many small reclaims, each of which ends with a last victim.
    @Test(arguments: AccessStream.allCases, ThingMix.allCases)
    func theLastVictimDoesNoHarm(_ stream: AccessStream, _ mix: ThingMix) {
        let stalls = stalls(mix, stream, [CostAware(), LeastRecentlyUsed(), LowestCostFirst()], batch: 0.01)
        // With 60 values there is little to learn from.
        #expect(stalls[0] <= stalls[1] * 1.08)
    }

    /// Throwing everything away is worse than any choice that looks at use, wherever there is something to know.
    @Test(arguments: [AccessStream.zipf, .shiftingHotSet, .recent], ThingMix.allCases)
    func purgingEverythingIsWorst(_ stream: AccessStream, _ mix: ThingMix) {
        let stalls = stalls(mix, stream, [PurgeEverything(), LeastRecentlyUsed(), Sieve(), CostAware()])
        for stall in stalls.dropFirst() { #expect(stalls[0] > stall) }
    }

    /// SIEVE's strength: values that are used once go early.
    @Test func sieveResistsScans() {
        let stalls = stalls(.equal, .zipfWithScans, [Sieve(), LeastRecentlyUsed()])
        #expect(stalls[0] < stalls[1])
    }

    /// Every policy frees what was asked for, whatever it takes.
    @Test(arguments: everyPolicy)
    func everyReclaimReachesItsGoal(_ policy: any EvictionPolicy) {
        let things = ThingMix.skewed.things(200, seed: 1)
        let limit = things.reduce(0) { $0 + $1.bytes } * 3 / 10
        let keys = AccessStream.zipf.keys(3000, of: 200, seed: 2)
        let outcome = PolicySimulator.run(keys, of: things, limit: limit, batch: limit / 10, policy: policy)
        #expect(outcome.reclaims > 0)
        #expect(outcome.freed >= outcome.reclaims * (limit / 10))
        #expect(outcome.hits + outcome.firstLoads + outcome.returns == 3000)
        #expect(outcome.refaults <= outcome.returns)
    }
}
#endif
