package import PressureSystem

/// How far memory is from the least that is to stay free, at one sample.
package struct AdmissionRoom: Hashable, Sendable, BitwiseCopyable {
    /// The bytes that may still be taken before readers wait, of the limit that is nearest to that: what was available,
    /// less its ``Watermarks/min``; negative behind it.
    package var bytes: Int
    /// When that was sampled.
    package var takenAt: MonotonicInstant
    /// When its source was last asked: one that has no news keeps its last word.
    package var askedAt: MonotonicInstant
    /// What the library had brought and given back by then.
    package var books: MemoryBooks.Reading
    /// Reclaim in the background begins when less than this is left…
    package var low: Int
    /// …and ends when so much is.
    package var high: Int
    /// How much may be brought in on the word of one sample, unless that is new.
    package var stride = Int.max
    /// Whether others take memory this very moment, so fast that it matters.
    package var isTaken = false
    /// The fastest that others have taken memory lately or do now, in bytes a second: how fast a sample's word ages.
    package var surge = 0.0
    /// How much of ``bytes`` is the process's own heap: free in it, and not returned to the system.
    package var heap = 0
    /// What is free in it beyond that, where giving it back brings much.
    package var surplus = 0
    /// How long giving it back took lately.
    package var giving = Duration.zero
    /// How long it takes until values have left and are given back.
    package var reclaiming = Duration.zero
    /// How far behind that loads may go when memory does not come free in time: half of what is left there.
    package var overdraft: Int
    /// This process's part of what is in use below that limit, 0 … 1.
    package var ownPart: Double
    /// What those who share the limit had brought and given back by then; `nil` where nobody does.
    package var others: MemoryBooks.Reading?
    /// Which of the monitor's places has told of that limit.
    package var place = 0

    /// Creates a room.
    package init(
        bytes: Int,
        takenAt: MonotonicInstant,
        books: MemoryBooks.Reading = .init(),
        low: Int = 0,
        high: Int = 0,
        overdraft: Int = 0,
        ownPart: Double = 1
    ) {
        self.bytes = bytes
        self.takenAt = takenAt
        askedAt = takenAt
        self.books = books
        self.low = low
        self.high = high
        self.overdraft = overdraft
        self.ownPart = ownPart
    }

    /// The room below a limit.
    package init(
        available: Int,
        limit: ByteCount,
        marks: Watermarks,
        takenAt: MonotonicInstant,
        ownPart: Double = 1
    ) {
        self.init(
            bytes: available - marks.min,
            takenAt: takenAt,
            low: marks.low - marks.min,
            high: marks.high - marks.min,
            overdraft: marks.min / 2,
            ownPart: ownPart
        )
        stride = limit.bytes / 20
    }

    /// Whether so little is left that the free part of the heap makes a difference.
    var isNarrow: Bool { bytes < 2 * high }

    /// Counts what is free in the process's heap: the next values fit into it, whatever the system says. Not more than the
    /// process keeps free at all; what is beyond that is better given back, and of it not all can be used.
    ///
    /// For what the rest of the process had in use a moment ago the least that stays free suffices, but for the half of it that
    /// loads may overdraw.
    ///
    /// Where it takes longer than the marks are made for until values have left, what others take meanwhile is kept free beside, up to
    /// a twentieth of the limit.
    mutating func count(_ reading: HeapReading) {
        (giving, reclaiming) = (reading.giving, reading.leaving + reading.giving * 2)
        if surge > 0 {
            let late = max(.zero, reclaiming - .seconds(Watermarks.reaction))
            bytes -= min(taken(in: late, atLeast: Watermarks.leastSurge), stride)
        }
        heap = reading.usable < 0 ? min(reading.usable + overdraft, 0) : min(reading.usable, high)
        bytes += heap
        surplus = reading.yieldsMuch ? max(0, reading.usable - heap) : 0
    }

    /// Whether only the free part of the heap keeps readers from waiting: the system has less than the least that is to be free.
    package var restsOnHeap: Bool { bytes - heap < 0 }

    /// Whether others would have begun on the least that is to be free before they get any, if they began to take memory now: what is
    /// free in the heap is of no use to them.
    package var isThin: Bool { bytes - heap < takenMeanwhile }

    /// Whether they do: what leaves now is for them.
    package var isShrinking: Bool { isTaken && isThin }

    /// What others may take until a batch has left and the heap is given back.
    package var takenMeanwhile: Int {
        surge > 0 ? min(taken(in: reclaiming, atLeast: Watermarks.leastSurge), high) : 0
    }

    /// Whether the system has all that is to be free, without what is free in the heap.
    package var isRelieved: Bool { bytes - heap >= high }

    /// Whether the system needs the free part of the heap back.
    package var wantsHeapBack: Bool { heap >= max(high / 8, 1 << 18) && restsOnHeap }

    /// Whether it needs it now.
    package var needsHeapBack: Bool { wantsHeapBack && isPressing }

    /// Whether the system needs memory now: others take it, or they could have more than half of the least that is to be free before
    /// the heap is given back.
    package var isPressing: Bool { isTaken || bytes - heap + overdraft < min(taken(in: giving), overdraft) }

    /// Whether to give that back before values leave: an app that has emptied a cache is filling it again.
    package var hasSurplus: Bool { surplus >= max(high / 2, Self.leastGivenBack) }

    /// How much values have to leave in the heap to be worth giving back, which took so long last: twice what others take
    /// meanwhile.
    ///
    /// The C library goes through all free blocks each time, also those that it has given back before: for small values that takes
    /// some 4 ms of 128 MiB, be it for one MiB or for five, and in 4 ms a program that fills memory takes more than one. Not more
    /// than half of what is free after a reclaim, however long it took: a thread may not have got a processor.
    package func worthGivingBack(in duration: Duration) -> Int {
        let taken = min(surge * Double(duration.nanoseconds) / 1e9, Double(Int32.max))
        return max(Self.leastGivenBack, min(2 * Int(taken), high / 2))
    }

    /// Less is not worth going through any heap.
    package static let leastGivenBack = 1 << 20

    /// The room of a step that began at an instant, with what the books said in it. A source that has no news keeps its last
    /// word, and that is as old as the books of then.
    func noted(
        _ reading: MemoryBooks.Reading,
        after start: MonotonicInstant,
        before last: AdmissionRoom?
    ) -> AdmissionRoom {
        var room = self
        room.books = reading
        room.askedAt = start
        if takenAt < start, let last, last.takenAt == takenAt { (room.books, room.others) = (last.books, last.others) }
        return room
    }

    /// What others may have taken since it was sampled.
    package func taken(at now: MonotonicInstant) -> Int { taken(in: now - takenAt) }

    /// What others may take in so long, at so many bytes a second at least.
    package func taken(in duration: Duration, atLeast rate: Double = 0) -> Int {
        Int(min(max(surge, rate) * Double(duration.nanoseconds) / 1e9, Double(Int32.max)))
    }

    /// What is left of it once what the library has done since is taken into account.
    package func left(_ books: MemoryBooks.Reading) -> Int { bytes - books.growth(since: self.books) }
}
