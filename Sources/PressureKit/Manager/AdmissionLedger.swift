/// How far memory is from critical, at one sample.
package struct AdmissionRoom: Hashable, Sendable {
    /// The bytes that may still be taken before critical begins, of the limit that is nearest to it; negative behind it.
    package var bytes: Int
    /// When that was sampled.
    package var takenAt: MonotonicInstant

    /// Creates a room.
    package init(bytes: Int, takenAt: MonotonicInstant) {
        self.bytes = bytes
        self.takenAt = takenAt
    }
}

/// What the library itself is bringing into memory, and whether it still fits. Pure; allocates nothing.
///
/// A sample does not show what was brought in after it, nor all of what is on its way, so both are taken off.
package struct AdmissionLedger: Sendable {
    /// What to do about a load.
    package enum Verdict: Hashable, Sendable {
        /// It fits, or nobody knows.
        case go
        /// The sample is too old to say.
        case look
        /// So much must be freed first.
        case relieve(ByteCount)
    }

    /// A sample older than this does not decide about a load that is large for the room there is.
    static let freshness = Duration.milliseconds(20)
    /// A shortage of less is not worth a relief: it is what a few small values take.
    static let tolerance = 1 << 20

    /// Behind the threshold a load has this much of the shortage freed as well: the monitor asks for it too, but at its own
    /// pace, and loads go on meanwhile.
    static let mostDeficit = 64 << 20

    /// Bytes that are being loaded or restored now.
    private(set) var underWay = 0
    private var arrived = FreedLedger()
    /// When the last relief ended: a sample from before shows a shortage that is over.
    private var relievedAt: MonotonicInstant?

    /// Nothing is under way.
    package init() {}

    /// A load of so many bytes begins.
    package mutating func begin(_ bytes: Int) { underWay += bytes }

    /// It has ended.
    package mutating func end(_ bytes: Int, at now: MonotonicInstant) {
        underWay -= bytes
        arrived.note(ByteCount(bytes: bytes), at: now)
    }

    /// A relief has ended, whatever it freed.
    package mutating func noteRelief(at end: MonotonicInstant) { relievedAt = max(relievedAt ?? end, end) }

    /// What is left of a room once all that is under way is there; negative when it does not fit.
    package func margin(in room: AdmissionRoom) -> Int {
        max(-Self.mostDeficit, room.bytes) - underWay - arrived.freed(since: room.takenAt).bytes
    }

    /// What to do about a load of so many bytes that has begun already.
    ///
    /// - Parameters:
    ///   - room: The newest sample; `nil` when nobody watches, and then everything is let in.
    package func verdict(on bytes: Int, room: AdmissionRoom?, at now: MonotonicInstant) -> Verdict {
        guard let room else { return .go }
        let margin = margin(in: room)
        let isCurrent = relievedAt.map { room.takenAt >= $0 } ?? true
        let isFresh = isCurrent && now - room.takenAt <= Self.freshness
        if margin >= 0 { return isFresh || margin / 4 >= bytes ? .go : .look }
        guard isFresh else { return .look }
        return -margin < Self.tolerance ? .go : .relieve(ByteCount(bytes: -margin))
    }
}
