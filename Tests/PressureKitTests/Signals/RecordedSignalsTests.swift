import Foundation
import PressureKit
import Testing

/// What was recorded on real machines, played through the classifier.
@Suite struct RecordedSignalsTests {
    private static func replay(_ name: String) throws -> SignalReplay {
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "signals", subdirectory: "Fixtures/signals")
        )
        return try SignalReplay(SignalRecording(parsing: Array(try Data(contentsOf: url))))
    }

    /// The design's "no cry": a file of four times the limit is streamed, and nothing is said.
    @Test func streamingThroughThePageCacheRaisesNothing() throws {
        var replay = try Self.replay("page-cache-stream")
        let decisions = replay.decisions()
        #expect(decisions.isEmpty, "\(decisions.map(\.cause))")
    }

    @Test func aFillIsNoticedWhileThereIsRoom() throws {
        var replay = try Self.replay("anonymous-fill")
        let decisions = replay.decisions()
        let changes = decisions.filter(\.levelChanged).map(\.cause)
        #expect(changes.map(\.levelAfter) == [.warning, .critical, .warning])
        #expect(changes.allSatisfy { $0.source == "/sys/fs/cgroup/memory/pk-record" }, "\(changes)")
        #expect(try #require(changes[0].available) > .mebibytes(38), "before critical begins")
        #expect(try #require(changes[1].available) > .mebibytes(19), "half of it is left")
        #expect(decisions.compactMap(\.relief).count >= 2)
    }

    @Test(arguments: ["page-cache-stream", "anonymous-fill"])
    func aReplayIsTheSameEachTime(name: String) throws {
        var (first, second) = (try Self.replay(name), try Self.replay(name))
        #expect(first.decisions() == second.decisions())
    }
}
