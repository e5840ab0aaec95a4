import PressureSystem

/// What the evaluators say, one by one.
extension PressureClassifier {
    /// How far the nearest limit is from critical; `nil` when no source has told any bytes.
    package var admissionRoom: AdmissionRoom? {
        var nearest: AdmissionRoom?
        for index in evaluators.indices {
            guard let headroom = evaluators[index].headroom, let bands = evaluators[index].bands,
                let takenAt = evaluators[index].reading?.takenAt
            else { continue }
            let bytes = headroom.available.bytes - bands.criticalEnter.bytes
            guard nearest.map({ bytes < $0.bytes }) ?? true else { continue }
            nearest = AdmissionRoom(
                bytes: bytes,
                takenAt: takenAt,
                overdraft: bands.criticalEnter.bytes / 2,
                ownPart: evaluators[index].ownPart(resident: resident)
            )
        }
        return nearest
    }

    /// Whether no source speaks for a level any more.
    var isOver: Bool {
        for index in evaluators.indices where evaluators[index].vote > .normal { return false }
        return true
    }

    /// One source's last reading, and what follows from it.
    package struct Vote: Hashable, Sendable {
        /// The last reading; `nil` before the first.
        package var reading: SignalReading?
        /// The level it asks for.
        package var level: PressureLevel
        /// How bad it is, 0 … 1.
        package var score: Double
        /// The thresholds in bytes; `nil` when it does not measure bytes.
        package var bands: ThresholdBytes?
        /// In what time all is gone as things go; `nil` when that is far off.
        package var exhaustion: Duration?
    }

    /// The vote of the source at a place.
    package func vote(at index: Int) -> Vote {
        let evaluator = evaluators[index]
        return Vote(
            reading: evaluator.isSilent ? nil : evaluator.reading,
            level: evaluator.vote,
            score: evaluator.score,
            bands: evaluator.bands,
            exhaustion: evaluator.headroom == nil ? nil : evaluator.headroomEvaluator.exhaustion
        )
    }
}
