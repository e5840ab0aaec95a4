import Testing

@testable import PressureKit

/// Room for plans, between two reclaims.
@Suite struct IdlePlanStorageTests {
    @Test func whatIsRegisteredWhileItIsOutFitsWhenItIsBack() throws {
        let idle = IdlePlanStorage(PlanStorage())
        idle.reserve(values: 10, caches: 1)
        let storage = try #require(idle.take())
        #expect(idle.take() == nil)
        let before = storage.mostValues
        #expect(before >= 10)
        idle.reserve(values: 10 * before, caches: 500)
        #expect(storage.mostValues == before, "it is in use")
        idle.putBack(storage)
        #expect(storage.mostValues >= 10 * before)
        #expect(idle.reservedValues == 10 * before)
    }

    /// And less than was asked for before changes nothing.
    @Test func itGrowsBeforeThereIsMoreThanItHolds() throws {
        let idle = IdlePlanStorage(PlanStorage())
        for values in 1...5_000 {
            idle.reserve(values: values, caches: 1)
            idle.reserve(values: 1, caches: 1)
            let storage = try #require(idle.take())
            #expect(storage.mostValues >= values)
            idle.putBack(storage)
        }
    }

    /// Also while it is out: then when it is back. What was asked for is there again once it may be.
    @Test func itFollowsABoundAndForgetsNothing() throws {
        let idle = IdlePlanStorage(PlanStorage())
        idle.reserve(values: 5000, caches: 1)
        idle.bound(to: 2000)
        var storage = try #require(idle.take())
        #expect(storage.capacity == 2000 && storage.mostValues == .max)
        idle.bound(to: 500)
        #expect(storage.capacity == 2000, "it is in use")
        idle.putBack(storage)
        storage = try #require(idle.take())
        #expect(storage.capacity == 500)
        idle.putBack(storage)
        idle.bound(to: 50_000)
        storage = try #require(idle.take())
        #expect(storage.capacity >= 5000)
        idle.putBack(storage)
    }

    @Test func noBoundIsBeyondWhatItWasMadeFor() throws {
        let idle = IdlePlanStorage(PlanStorage(most: 100))
        idle.bound(to: 1000)
        idle.reserve(values: 5000, caches: 1)
        #expect(try #require(idle.take()).capacity == 100)
    }

    @Test func whatNeverHoldsMoreIsEnoughForAny() throws {
        let idle = IdlePlanStorage(PlanStorage(most: 100))
        idle.reserve(values: 1_000_000, caches: 1)
        #expect(try #require(idle.take()).mostValues == .max)
    }
}
