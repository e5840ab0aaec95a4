package import PressureSystem

/// How far memory is from critical, at one sample.
package struct AdmissionRoom: Hashable, Sendable {
    /// The bytes that may still be taken before critical begins, of the limit that is nearest to it; negative behind it.
    package var bytes: Int
    /// When that was sampled.
    package var takenAt: MonotonicInstant
    /// What the library had brought and given back by then.
    package var books: MemoryBooks.Reading
    /// How far behind critical loads may go when memory does not come free in time: half of what is left there.
    package var overdraft: Int
    /// This process's part of what is in use below that limit, 0 … 1.
    package var ownPart: Double

    /// Creates a room.
    package init(
        bytes: Int,
        takenAt: MonotonicInstant,
        books: MemoryBooks.Reading = .init(),
        overdraft: Int = 0,
        ownPart: Double = 1
    ) {
        self.bytes = bytes
        self.takenAt = takenAt
        self.books = books
        self.overdraft = overdraft
        self.ownPart = ownPart
    }

    /// The room of a step that began at an instant, with what the books said in it. A source that has no news keeps its last
    /// word, and that is as old as the books of then.
    func noted(
        _ reading: MemoryBooks.Reading,
        after start: MonotonicInstant,
        before last: AdmissionRoom?
    ) -> AdmissionRoom {
        var room = self
        room.books = takenAt < start && last?.takenAt == takenAt ? last!.books : reading
        return room
    }

    /// What is left of it once what the library has done since is taken into account.
    package func left(_ books: MemoryBooks.Reading) -> Int { bytes - books.growth(since: self.books) }
}
