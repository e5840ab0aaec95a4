@testable import PressureKit
@testable import PressureSignals

extension FuzzTarget {
    /// Recordings of signals: written and read again the same, and replayed twice to the same decisions.
    static let recording = FuzzTarget(name: "recording") { bytes throws(FuzzFailure) in
        let recording: SignalRecording
        do throws(SignalRecording.Fault) {
            recording = try SignalRecording(parsing: bytes)
        } catch {
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            return try hold(1...lines ~= error.line && !error.message.isEmpty, "of \(lines) lines: \(error)")
        }
        try check(recording, lines: bytes.count { $0 == UInt8(ascii: "\n") } + 1)
        let text = written(recording)
        let again: SignalRecording
        do throws(SignalRecording.Fault) {
            again = try SignalRecording(parsing: Array(text.utf8))
        } catch {
            return try hold(isTooLong(text), "cannot be read again: \(error)\n\(text)")
        }
        try hold(again.events == recording.events.map(\.inOrder), "read again it is another:\n\(text)")
        try hold(try decisions(of: again) == decisions(of: recording), "it decides otherwise:\n\(text)")
    }

    /// A source's name can take four times as many bytes when its blanks are written as digits.
    private static func isTooLong(_ text: String) -> Bool {
        text.split(separator: "\n").contains { $0.utf8.count > SignalRecording.longestLine }
    }

    private static func check(_ recording: SignalRecording, lines: Int) throws(FuzzFailure) {
        try hold(0...SignalRecording.mostPlaces ~= recording.places, "\(recording.places) places")
        try hold(recording.events.count < lines, "\(recording.events.count) events on \(lines) lines")
        var last = MonotonicInstant(nanoseconds: 0)
        for event in recording.events {
            try hold(event.at >= last, "the time goes back: \(event)")
            last = event.at
            switch event {
            case .sample(_, let placed):
                try hold(Set(placed.map(\.place)).count == placed.count, "two readings of a place: \(event)")
                for one in placed {
                    try hold(0..<recording.places ~= one.place, "no such place: \(event)")
                    guard let headroom = one.reading.headroom else { continue }
                    try hold(headroom.available >= .zero && headroom.available <= headroom.limit, "\(event)")
                }
            case .reclaim(_, let duration, let returned, _):
                try hold(duration >= .zero && returned >= .zero, "\(event)")
            case .freed(let bytes, _): try hold(bytes >= .zero, "\(event)")
            }
        }
    }

    private static func written(_ recording: SignalRecording) -> String {
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
        return lines.joined(separator: "\n")
    }

    private static func decisions(of recording: SignalRecording) throws(FuzzFailure) -> [PressureDecision] {
        var decisions: [PressureDecision] = []
        do {
            var replay = try SignalReplay(recording)
            while let step = replay.step() {
                try hold(0...1 ~= step.score, "a score of \(step.score)")
                guard let decision = step.decision else { continue }
                try hold(0...1 ~= decision.score, "a score of \(decision.score)")
                try hold((decision.reclaim?.bytes ?? .zero) >= .zero, "\(decision)")
                decisions.append(decision)
            }
        } catch {
            throw FuzzFailure(description: "\(error)")
        }
        return decisions
    }
}

extension SignalRecording.Event {
    /// The readings of a sample by place, as they are written.
    fileprivate var inOrder: SignalRecording.Event {
        guard case .sample(let at, let placed) = self else { return self }
        return .sample(at: at, placed.sorted { $0.place < $1.place })
    }
}
