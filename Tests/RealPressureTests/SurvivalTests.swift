import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// The real OOM killer, in a cgroup of 256 MiB without swap.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: RealMachine.isAvailable, "\(RealMachine.objection ?? "")"))
struct SurvivalTests {
    /// The ground that the next test stands on: this load does kill a program that keeps what it loads.
    @Test func withoutTheLibraryTheProcessIsKilled() throws {
        let outcome = try RealMachine.survival().run(.without)
        #expect(outcome.wasKilled, "\(outcome)")
        #expect((outcome.news?.tally.loaded ?? 0) < 256, "more was loaded than the cgroup allows")
    }

    /// The working set is four times the limit, loaded at 500 MB/s and read back at random meanwhile.
    @Test func withTheLibraryItFinishesAndLosesNothing() throws {
        let plan = SurvivalPlan()
        let outcome = try RealMachine.survival(plan).run(.with)
        #expect(outcome.hasSurvived(plan), "\(outcome)")
        #expect(outcome.kills == 0)
        #expect(outcome.news?.tally.verifiedAtEnd == plan.count)
        #expect(outcome.news?.tally.lost == 0)
        #expect((outcome.news?.library?.evictions ?? 0) >= plan.count / 2)
    }

    /// A neighbour in the same cgroup takes and gives back a third of the limit, over and over, as fast as it can.
    @Test(.enabled(if: RealMachine.stressor != nil, "stress-ng is not installed"))
    func survivesBesideANeighbourThatWantsMemory() throws {
        var plan = SurvivalPlan()
        plan.times = 2
        plan.rate = 100e6
        var survival = try RealMachine.survival(plan)
        survival.neighbour = [
            try #require(RealMachine.stressor), "--vm", "1", "--vm-bytes", "80M", "--vm-method", "write64", "--timeout",
            "60s", "--quiet",
        ]
        let outcome = try survival.run(.with)
        #expect(outcome.hasSurvived(plan), "\(outcome)")
    }

    /// The cgroups are gone, whichever way the processes ended.
    @Test func nothingIsLeftBehind() throws {
        let plan = SurvivalPlan(limit: .mebibytes(32), times: 2, valueSize: .kibibytes(64))
        _ = try RealMachine.survival(plan).run(.without)
        let parent = try #require(MemoryGroup.ancestry().first).directory
        let left = try FileManager.default.contentsOfDirectory(atPath: parent).filter {
            $0.hasPrefix("\(Maker.prefix)\(getpid())")
        }
        #expect(left == [])
    }
}
