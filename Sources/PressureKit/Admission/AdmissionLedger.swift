import PressureSignals
import PressureSystem

/// What the library itself is bringing into memory, and whether it still fits. Pure; allocates nothing.
///
/// A sample does not show what was brought in after it, nor all of what is on its way: what came is known from the books,
/// and what is on its way is counted here.
package struct AdmissionLedger: Sendable {
    /// What to do about a load.
    package enum Verdict: Hashable, Sendable {
        /// It fits, or nobody knows.
        case go
        /// The sample is too old to say.
        case look
        /// So much must be freed first.
        case reclaim(ByteCount)
    }

    /// A sample older than this does not decide about a load that is large for the room there is.
    static let freshness = Duration.milliseconds(20)
    /// Behind the threshold a load has this much of the process's part of the shortage freed as well: the monitor asks for
    /// it too, but at its own pace, and loads go on meanwhile.
    static let mostDeficit = 64 << 20
    /// A shortage of less is not worth a reclaim: it is what a few small values take.
    private static let mostTolerated = 1 << 20

    /// Bytes that are being loaded or restored now, or wait to be; counted by whoever lets them in.
    package var underWay = 0
    /// What those who share the limit are bringing in.
    package var beside = 0
    /// The part of them that waits for memory.
    private(set) var waiting = 0

    /// Nothing is under way, unless it is said.
    package init(underWay: Int = 0, beside: Int = 0, waiting: Int = 0) {
        self.underWay = underWay
        self.beside = beside
        self.waiting = waiting
    }

    /// A load that has begun waits for memory.
    package mutating func beginWaiting(_ bytes: Int) { waiting += bytes }

    /// It waits no longer.
    package mutating func endWaiting(_ bytes: Int) { waiting -= bytes }

    /// How much may be let in from now on, load by load, before anybody looks again: an eighth of what is left, or a
    /// quarter where one sample counts for no more than that.
    package func credit(in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Int {
        max(0, min(margin(in: room, books) / 8, room.stride / 4 - max(0, books.growth(since: room.books)) / 4))
    }

    /// What is left of a room once all that is under way is there; negative when it does not fit.
    package func margin(in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Int {
        let left = room.left(books)
        // Who is to free it may not get to it: when half of the least is gone, all who share the limit wait.
        let part = room.others != nil && left < -room.overdraft ? 1 : room.ownPart
        let deficit = min(Double(-left) * part, Double(Self.mostDeficit))
        return (left < 0 ? -Int(deficit) : left) - underWay - beside
    }

    /// What is missing up to the high mark, once less than the low one is left; 0 for nothing.
    package func need(in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Int {
        let left = room.left(books) - underWay - beside
        return left < room.low ? room.high - left : 0
    }

    /// Whether what is missing is wanted at once: a load waits for it, or will before a batch that is in no hurry is made.
    package func isUrgent(in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Bool {
        waiting > 0 || room.left(books) - underWay - beside < room.low / 2
    }

    /// What the background reclaim is to free now; 0 for nothing. It begins when less than the low mark is left, and goes up
    /// to the high one: its part of what was missing at the sample, and all that the library has brought since.
    ///
    /// - Parameter part: What those who share the limit have agreed on instead. Readers who wait have what they bring freed
    ///   here, whatever others do.
    package func backgroundGoal(in room: AdmissionRoom, _ books: MemoryBooks.Reading, part: Int? = nil) -> Int {
        let left = room.left(books) - underWay - beside
        guard left < room.low else { return 0 }
        if let part { return max(part, min(waiting, -left)) }
        let missing = max(0, room.high - room.bytes)
        let own = room.high - left - missing
        return max(0, own + Int(Double(missing) * room.ownPart))
    }

    /// What to do about a load of so many bytes that has begun already.
    ///
    /// - Parameters:
    ///   - room: The newest sample; `nil` when nobody watches, and then everything is let in.
    ///   - books: What the library has brought and given back by now.
    package func verdict(
        on bytes: Int,
        room: AdmissionRoom?,
        books: MemoryBooks.Reading,
        at now: MonotonicInstant
    ) -> Verdict {
        guard let room else { return .go }
        let margin = margin(in: room, books)
        let isFresh = now - room.takenAt <= Self.freshness
        if margin >= 0 {
            // What others can have taken since is not there to be had.
            guard margin >= room.taken(at: now) else { return .look }
            let isKnown = margin / 4 >= bytes && books.growth(since: room.books) < room.stride
            return isFresh || isKnown ? .go : .look
        }
        guard isFresh else { return .look }
        let tolerance = min(Self.mostTolerated, room.overdraft / 4)
        return -margin < tolerance ? .go : .reclaim(ByteCount(bytes: -margin))
    }

    /// Whether a load of so many bytes may go on before anything has been sampled: one always may, and others beside it up to a
    /// quarter of the limit. Who begins at once with many large values, in several processes, would not live to see a sample.
    ///
    /// - Parameter isWaiting: Whether it is one of those that wait.
    package func mayGoUnseen(_ bytes: Int, below limit: Int, isWaiting: Bool) -> Bool {
        let others = underWay - waiting - (isWaiting ? 0 : bytes)
        return others <= 0 || others + bytes <= limit / 4
    }

    /// What is missing for one of the loads that wait, of so many bytes; 0 and less when it fits.
    package func lack(of bytes: Int, in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Int {
        underWay - waiting + beside + bytes - room.left(books)
    }

    /// Whether it fits by now.
    package func fits(_ bytes: Int, in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Bool {
        lack(of: bytes, in: room, books) <= 0
    }

    /// Whether it may go although it does not fit: what goes so is bounded, in bytes and not in loads.
    package func mayOverdraw(_ bytes: Int, in room: AdmissionRoom, _ books: MemoryBooks.Reading) -> Bool {
        lack(of: bytes, in: room, books) <= room.overdraft
    }
}
