package import PressureSystem

/// Plays a recording through the very classifier that a monitor uses, on the recording's own clock.
///
/// Time is what the recording says, so a replay takes as long as the computing does, and comes out the same each time.
package struct SignalReplay: Sendable {
    /// What the classifier said at a step.
    package struct Step: Sendable {
        /// When, by the recording's clock.
        package let at: MonotonicInstant
        /// The event that made the step.
        package let event: SignalRecording.Event
        /// What was decided, if anything.
        package let decision: PressureDecision?
        /// The level afterwards.
        package let level: PressureLevel
        /// How bad it is afterwards, 0 … 1.
        package let score: Double
        /// The bytes left of the limit that binds most.
        package let headroom: Headroom?
    }

    private let recording: SignalRecording
    private var classifier: PressureClassifier
    private var readings: [SignalReading?]
    private var next = 0

    /// Prepares a replay.
    ///
    /// - Throws: ``PressureError`` with code `invalidConfiguration` when the thresholds contradict each other.
    package init(
        _ recording: SignalRecording,
        thresholds: PressureThresholds = .init(),
        timings: PressureTimings = .init()
    ) throws(PressureError) {
        try thresholds.validate()
        self.recording = recording
        classifier = PressureClassifier(thresholds: thresholds, timings: timings, sources: recording.places)
        readings = Array(repeating: nil, count: recording.places)
    }

    /// Plays the next event.
    ///
    /// - Returns: `nil` at the end.
    package mutating func step() -> Step? {
        guard next < recording.events.count else { return nil }
        let event = recording.events[next]
        next += 1
        var decision: PressureDecision?
        switch event {
        case .sample(let at, let placed):
            for place in readings.indices { readings[place] = nil }
            for reading in placed { readings[reading.place] = reading.reading }
            decision = classifier.step(readings, at: at).decision
        case .reclaim(let level, let duration, let returned, let at):
            classifier.noteReclaim(at: level, duration: duration, returned: returned, end: at)
        case .freed(let bytes, let at):
            classifier.noteFreed(bytes, at: at)
        }
        return Step(
            at: event.at,
            event: event,
            decision: decision,
            level: classifier.level,
            score: classifier.score,
            headroom: classifier.headroom
        )
    }

    /// Plays all that is left and returns what was decided.
    package mutating func decisions() -> [PressureDecision] {
        var decisions: [PressureDecision] = []
        while let step = step() {
            if let decision = step.decision { decisions.append(decision) }
        }
        return decisions
    }
}
