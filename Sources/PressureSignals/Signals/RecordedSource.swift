package import PressureSystem

/// Plays a recording as if it happened now: what was recorded at one second is read one second after the first sample.
///
/// All its places speak, each by its own name, and times are moved to the present. Reclaims and freed bytes of the
/// recording are not played: those of the process that listens take their place. To see what was decided then, use
/// ``SignalReplay``.
package final class RecordedSource: SignalSource {
    private struct Progress {
        var start: MonotonicInstant?
        var next = 0
    }

    package let name: String
    package let width: Int
    private let recording: SignalRecording
    private let progress = Lock(Progress())

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - name: What the source is called in its status, such as the file's name.
    package init(_ recording: SignalRecording, name: String) {
        self.recording = recording
        self.name = name
        width = recording.places
    }

    /// Whether all of it has been played.
    package var isAtEnd: Bool { progress.withLock { $0.next >= recording.events.count } }

    package func sample(at now: MonotonicInstant, into readings: inout [SignalReading?], from first: Int) {
        progress.withLock { progress in
            for place in 0..<width { readings[first + place] = nil }
            let start = progress.start ?? now
            progress.start = start
            // Of several samples that are due the newest words count.
            while progress.next < recording.events.count {
                let event = recording.events[progress.next]
                guard event.at.nanoseconds <= (now - start).nanoseconds else { break }
                progress.next += 1
                guard case .sample(_, let placed) = event else { continue }
                for index in placed.indices {
                    var reading = placed[index].reading
                    reading.takenAt = MonotonicInstant(nanoseconds: start.nanoseconds + reading.takenAt.nanoseconds)
                    // Nobody notifies for what is past.
                    reading.isWatched = false
                    readings[first + placed[index].place] = reading
                }
            }
        }
    }

    package var statuses: [SignalStatus] {
        [
            SignalStatus(
                origin: .simulated,
                source: name,
                state: isAtEnd ? .unavailable : .available,
                detail: isAtEnd ? "The recording is at its end." : "A recording is played."
            )
        ]
    }
}
