import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals

@Suite struct SignalRecordingTests {
    private static let text = """
        pressurekit-signals 1
        # a comment
        slot 0 meminfo /proc/meminfo
        slot 1 cgroup /sys/fs/cgroup/with\\040blank
        slot 2 psi /proc/pressure/memory
        slot 3 memory.events /sys/fs/cgroup/app/memory.events
        slot 4 simulated demand
        sample 0 0=headroom:8000000000/16000000000 1=headroom:200/1000:watched
        sample 250 2=stall:own:1200/300:5.10/0.00:armed:rang:early 3=events:4/3/2/1
        sample 300 4=demand:critical:1048576 2=stall:host:1300/-:100.00/0.07
        sample 400 0=headroom:1/16000000000/5:age=150 1=headroom:1/1000/0/7 4=demand:normal
        sample 500
        reclaim 600 critical 110000000 67108864
        freed 700 4096

        """

    private static func parse(_ text: String) throws(SignalRecording.Fault) -> SignalRecording {
        try SignalRecording(parsing: Array(text.utf8))
    }

    @Test func everyKindOfLineIsRead() throws {
        let recording = try Self.parse(Self.text)
        #expect(recording.places == 5)
        #expect(recording.events.count == 7)
        guard case .sample(_, let first) = recording.events[0], case .sample(_, let second) = recording.events[1],
            case .sample(_, let third) = recording.events[2], case .sample(_, let fourth) = recording.events[3]
        else {
            Issue.record("no samples")
            return
        }
        #expect(first[0].reading.headroom?.available.bytes == 8_000_000_000)
        #expect(first[1].reading.source == "/sys/fs/cgroup/with blank")
        #expect(first[1].reading.isWatched)
        let totals = StallTotals(some: 1200, full: 300, someAverage: 510)
        #expect(
            second[0].reading.measure
                == .stall(StallReading(totals: totals, scope: .own, isArmed: true, hasFired: true, hasFiredEarly: true))
        )
        #expect(second[1].reading.measure == .events(EventCounters(high: 4, max: 3, oom: 2, oomKill: 1)))
        #expect(third[0].reading.measure == .demand(.critical, freeing: .mebibytes(1)))
        let host = StallTotals(some: 1300, full: nil, someAverage: 10_000, fullAverage: 7)
        let stall = StallReading(totals: host, scope: .host, isArmed: false, hasFired: false)
        #expect(third[1].reading.measure == .stall(stall))
        #expect(fourth[0].reading.headroom?.eventual == .bytes(6))
        #expect(fourth[1].reading.headroom?.leftByOthers == .bytes(8))
        #expect(fourth[0].reading.takenAt == MonotonicInstant(nanoseconds: 250))
        #expect(
            recording.events[5]
                == .reclaim(
                    .critical,
                    duration: .milliseconds(110),
                    returned: .mebibytes(64),
                    at: MonotonicInstant(nanoseconds: 600)
                )
        )
        #expect(recording.events[6] == .freed(.kibibytes(4), at: MonotonicInstant(nanoseconds: 700)))
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let recording = try Self.parse(Self.text)
        var writer = SignalRecording.Writer(start: MonotonicInstant(nanoseconds: 0))
        var lines = [writer.header]
        for event in recording.events {
            switch event {
            case .sample(let at, let placed):
                var readings = [SignalReading?](repeating: nil, count: recording.places)
                for one in placed { readings[one.place] = one.reading }
                let sample = PressureMonitor.Sample(at: at, readings: readings, decision: nil, nextPoll: .zero)
                lines += writer.lines(for: .sample(sample))
            case .reclaim(let level, let duration, let returned, let at):
                lines += writer.lines(for: .reclaim(level, duration: duration, returned: returned, at: at))
            case .freed(let bytes, let at): lines += writer.lines(for: .freed(bytes, at: at))
            }
        }
        func sorted(_ recording: SignalRecording) -> [SignalRecording.Event] {
            recording.events.map { event in
                guard case .sample(let at, let placed) = event else { return event }
                return .sample(at: at, placed.sorted { $0.place < $1.place })
            }
        }
        let again = try Self.parse(lines.joined(separator: "\n"))
        #expect(sorted(again) == sorted(recording))
    }

    /// The line it is on, and a word of what is said about it.
    @Test(arguments: [
        ("", 1, "pressurekit-signals"),
        ("pressurekit-signals 2", 1, "pressurekit-signals 1"),
        ("pressurekit-signals 1\nnoise", 2, "no event"),
        ("pressurekit-signals 1\nslot 0 meminfo", 2, "slot NUMBER"),
        ("pressurekit-signals 1\nslot 256 meminfo x", 2, "256"),
        ("pressurekit-signals 1\nslot -1 meminfo x", 2, "slot NUMBER"),
        ("pressurekit-signals 1\nslot 0 rumour x", 2, "origin"),
        ("pressurekit-signals 1\nsample 0 0=demand:normal", 2, "slot line"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=demand:loud", 3, "no reading"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=headroom:1/0", 3, "no reading"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=headroom:11/10", 3, "A at most L"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=headroom:1/99999999999999999999", 3, "no reading"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=stall:own:1/2", 3, "no reading"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=events:1/2/3", 3, "no reading"),
        ("pressurekit-signals 1\nslot 0 psi x\nsample 0 0=demand:normal 0=demand:normal", 3, "two readings"),
        ("pressurekit-signals 1\nsample 5\nsample 4", 3, "goes back"),
        ("pressurekit-signals 1\nsample now", 2, "no time"),
        ("pressurekit-signals 1\nreclaim 0 warning 1", 2, "reclaim TIME"),
        ("pressurekit-signals 1\nreclaim 0 warning -1 1", 2, "reclaim TIME"),
        ("pressurekit-signals 1\nfreed 0 -1", 2, "freed TIME"),
    ])
    func aFaultNamesItsLineAndWhatIsAllowed(text: String, line: Int, word: String) throws {
        let fault = try #require(throws: SignalRecording.Fault.self) { try Self.parse(text) }
        #expect(fault.line == line)
        #expect(fault.message.contains(word), "\(fault)")
    }

    @Test func whatEditorsPutAroundLinesIsNoDamage() throws {
        let edited = "\u{FEFF}" + Self.text.replacing("\n", with: "\r\n")
        #expect(try Self.parse(edited).events.count == Self.parse(Self.text).events.count)
    }

    @Test func aLineThatIsTooLongIsRefused() throws {
        let long = SignalRecording.header + "\n# " + String(repeating: "x", count: SignalRecording.longestLine)
        let fault = try #require(throws: SignalRecording.Fault.self) { try Self.parse(long) }
        #expect(fault.line == 2)
    }

    /// Damage of every kind: cut, changed and doubled bytes. Nothing may trap.
    @Test func anyBytesAreSafe() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = Array(Self.text.utf8)
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(contentsOf: bytes[index..<min(index + 9, bytes.count)], at: index)
                default: bytes.removeSubrange(index..<min(index + 5, bytes.count))
                }
            }
            _ = try? SignalRecording(parsing: bytes)
        }
    }

    /// A monitor over random signals, recorded, written, parsed and replayed: every decision comes out the same.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func aReplayDecidesAsTheMonitorDid(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let (host, group) = (SimulatedSource(name: "a host"), SimulatedSource(name: "back\\slash"))
        let heard = Lock<[PressureDecision]>([])
        let lines = Lock<[String]>([])
        let writer = Lock(SignalRecording.Writer(start: clock.now()))
        let monitor = try PressureMonitor(
            sources: [host, group],
            clock: clock,
            observe: { observation in
                let text = writer.withLock { $0.lines(for: observation) }
                lines.withLock { $0 += text }
            },
            deliver: { decision in heard.withLock { $0.append(decision) } }
        )
        for _ in 0..<400 {
            let delay = monitor.tick()
            clock.advance(by: min(delay, .milliseconds(Int64.random(in: 5...2000, using: &random))))
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: host.set(available: .mebibytes(Int.random(in: 0...1000, using: &random)), of: .mebibytes(1000))
            case 3...4: group.set(available: .mebibytes(Int.random(in: 0...256, using: &random)), of: .mebibytes(256))
            case 5: group.set(PressureLevel(rawValue: Int.random(in: 0...2, using: &random))!)
            case 6:
                monitor.noteReclaim(
                    at: monitor.level,
                    duration: .milliseconds(Int64.random(in: 0...400, using: &random)),
                    returned: .mebibytes(Int.random(in: 0...200, using: &random))
                )
            default: monitor.noteFreed(.mebibytes(5))
            }
        }
        let decisions = heard.withLock { $0 }
        #expect(!decisions.isEmpty)
        let text = ([SignalRecording.header] + lines.withLock { $0 }).joined(separator: "\n")
        let recording = try Self.parse(text)
        var replay = try SignalReplay(recording)
        let replayed = replay.decisions()
        #expect(replayed == decisions, "seed \(seed)")
    }
}
