import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// The soak's work without a cgroup: small, and in this process.
@Suite(.timeLimit(.minutes(2))) struct SoakLoadTests {
    private static let plan = SoakPlan(limitBytes: 1 << 20, times: 2, valueBytes: 32 << 10, seconds: 0.3, rate: 2000)

    @Test func valuesAreReadAndChangedAndRightAtTheEnd() async throws {
        let plan = Self.plan
        let manager = try PressureManager()
        let load = try SoakLoad(plan, manager.root)
        try await Blocking.run("test") {
            load.fill()
            try load.run(until: SystemClock().now() + .seconds(plan.seconds))
        }
        _ = await manager.simulateMemoryWarning(.critical)
        try await Blocking.run("test") { load.readAll() }
        let tally = load.tally
        #expect(plan.count == 64)
        #expect(tally.rightAtEnd == 64 && tally.lost == 0, "\(tally)")
        #expect(tally.reads > 64 && tally.changes > 0, "\(tally)")
        #expect(load.takeRestores().count >= 32, "what no loader makes was spilled")
        #expect(load.takeRestores().count == 0)
    }

    @Test func aValueThatIsNotTheOneWrittenIsNoticed() {
        let values = SoakValues(count: 3, size: 4096)
        #expect(values.complaint(values.make(1), 1, oldest: 0) == nil)
        #expect(values.complaint(values.make(2), 1, oldest: 0) == "value 1 has come back as value 2")
        #expect(values.complaint(PageBuffer(byteCount: 4095), 1, oldest: 0) == "value 1 has 4095 bytes")
        var flipped = values.make(1)
        flipped.write { $0.storeBytes(of: 0xEE, toByteOffset: 4095, as: UInt8.self) }
        #expect(values.complaint(flipped, 1, oldest: 0)?.contains("come back changed") == true)

        var changed = values.make(1)
        let version = values.begin(1)
        #expect(version == 1)
        values.stamp(&changed, 1, version: version)
        // While it is being changed either may be read.
        #expect(values.complaint(values.make(1), 1, oldest: 0) == nil)
        #expect(values.complaint(changed, 1, oldest: 0) == nil)
        values.end(1, version: version)
        #expect(values.done(1) == 1)
        #expect(values.complaint(values.make(1), 1, oldest: 1) == "value 1 has come back in version 0, not 1 to 1")
    }

    @Test func savedStatesAreComparedByAnotherManager() async throws {
        try await withTemporaryDirectory { directory in
            let manager = try PressureManager()
            let controller = PressureController("soak")
            try manager.root.addChild(controller)
            var plan = SoakPlan()
            plan.states = directory.path
            let states = try SoakStates(controller, plan)
            #expect(await states.saveAndCompare(manager) == nil)
            #expect(await states.saveAndCompare(manager) == nil)
            #expect(await states.saveAndCompare(manager) == nil)
            // A state that somebody has taken away is missed.
            for number in 0...1 { try FileManager.default.removeItem(atPath: "\(directory.path)/\(number)") }
            #expect(await states.saveAndCompare(manager)?.contains("is not there") == true)
            await manager.shutdown()
        }
    }
}
