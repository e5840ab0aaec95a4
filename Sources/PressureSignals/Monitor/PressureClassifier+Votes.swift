import PressureSystem

/// What the evaluators say, one by one.
extension PressureClassifier {
    /// How far the nearest limit is from its watermarks; `nil` when no source has told any bytes.
    ///
    /// - Parameter writing: Bytes that a reclaim itself takes, because what leaves has to be written.
    package func admissionRoom(writing: Int = 0) -> AdmissionRoom? {
        var nearest: AdmissionRoom?
        for index in evaluators.indices {
            guard let headroom = evaluators[index].headroom, let marks = evaluators[index].marks(writing: writing),
                let takenAt = evaluators[index].reading?.takenAt
            else { continue }
            var room = AdmissionRoom(
                available: headroom.available.bytes,
                limit: headroom.limit,
                marks: marks,
                takenAt: takenAt,
                ownPart: evaluators[index].ownPart(resident: resident)
            )
            room.place = index
            room.isTaken = evaluators[index].headroomEvaluator.isTaken
            room.surge = evaluators[index].surge
            if nearest.map({ room.bytes - room.low < $0.bytes - $0.low }) ?? true { nearest = room }
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
