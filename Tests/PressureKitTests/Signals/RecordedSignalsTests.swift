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
        #expect(decisions.compactMap(\.reclaim).count >= 2)
    }

    @Test(arguments: ["page-cache-stream", "anonymous-fill"])
    func aReplayIsTheSameEachTime(name: String) throws {
        var (first, second) = (try Self.replay(name), try Self.replay(name))
        #expect(first.decisions() == second.decisions())
    }

    /// As a source it goes the way of any other, in the time of whoever listens.
    @Test func aRecordingCanBePlayedAsASource() throws {
        let text = """
            pressurekit-signals 1
            slot 0 cgroup /a
            slot 1 psi /p
            sample 0 0=headroom:900/1000:watched
            sample 1000000000 1=stall:own:5/-:0.00/0.00
            reclaim 1500000000 warning 1 1
            sample 2000000000 0=headroom:10/1000:age=7 1=stall:own:6/-:0.00/0.00
            """
        let source = RecordedSource(try SignalRecording(parsing: Array(text.utf8)), name: "a file")
        #expect(source.width == 2)
        var readings: [SignalReading?] = Array(repeating: nil, count: 3)
        func sample(at milliseconds: Int64) -> [SignalReading?] {
            let now = MonotonicInstant(nanoseconds: (5_000 + milliseconds) * 1_000_000)
            source.sample(at: now, into: &readings, from: 1)
            return Array(readings.dropFirst())
        }
        let first = sample(at: 0)
        #expect(first[0]?.headroom?.available == .bytes(900))
        #expect(first[0]?.isWatched == false)
        #expect(first[1] == nil)
        #expect(sample(at: 999) == [nil, nil])
        let last = sample(at: 9_000)
        #expect(last[0]?.headroom?.available == .bytes(10))
        #expect(last[0]?.takenAt == MonotonicInstant(nanoseconds: 7_000_000_000 - 7))
        guard case .stall(let stall)? = last[1]?.measure else {
            Issue.record("no stall")
            return
        }
        #expect(stall.totals.some == 6, "of several that are due the newest")
        #expect(source.isAtEnd)
        #expect(sample(at: 10_000) == [nil, nil])
    }
}
