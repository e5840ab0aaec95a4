import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// When a reclaim gives the heap back to the system: others need it before the reclaim has ended.
@Suite struct ReclaimProgressTests {
    private let clock = ManualClock()

    private func progress(isOver: (() -> Bool)?) throws -> ReclaimEngine.Progress {
        let file = try SpillFixture(InMemoryFileSystem()).file
        let target = SpillTarget(file, choice: nil, compressesLater: false, clock: clock)
        var progress = ReclaimEngine.Progress(PlanStorage(limit: 16), to: target, residentBefore: 0)
        progress.isOver = isOver
        return progress
    }

    @Test func whileMemoryIsShortEveryTwoMebibytesGoBack() throws {
        var progress = try progress { false }
        progress.freed = (1 << 20) - 1
        #expect(!progress.wantsTrim(by: clock))
        progress.freed += 1
        #expect(progress.wantsTrim(by: clock))
        progress.noteTrim(from: clock.now(), to: clock.now())
        #expect(progress.isTrimmed)
        #expect(!progress.wantsTrim(by: clock))
        progress.freed += 1 << 20
        #expect(progress.wantsTrim(by: clock))
    }

    @Test func halfOfTheTimeAtMostGoesIntoIt() throws {
        var progress = try progress { false }
        progress.freed = 1 << 20
        let start = clock.now()
        clock.advance(by: .milliseconds(5))
        progress.noteTrim(from: start, to: clock.now())
        progress.freed += 64 << 20
        clock.advance(by: .milliseconds(4))
        #expect(!progress.wantsTrim(by: clock))
        clock.advance(by: .milliseconds(1))
        #expect(progress.wantsTrim(by: clock))
        #expect(progress.phases.trim == .milliseconds(5))
    }

    /// What the app asks for, and a batch, which gives it back itself.
    @Test func whereNothingIsShortItIsLeftToTheEnd() throws {
        var progress = try progress(isOver: nil)
        progress.freed = 1 << 30
        #expect(!progress.wantsTrim(by: clock))
        progress.isHasty = true
        #expect(progress.wantsTrim(by: clock), "others take it")
    }
}
