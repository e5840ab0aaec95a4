import PressureSystem

/// What was freed lately and when, so that a goal from an older sample does not ask for the same bytes again.
///
/// Pure, fixed size, allocates nothing. When it is full the two oldest entries become one with the later time: a sample
/// between the two is then taken to have seen less than it did, and the goal errs towards evicting less. So that the error
/// never outlasts a sample, ``forget(until:)`` is called with each.
struct FreedLedger: Sendable {
    private struct Entry {
        var at: MonotonicInstant
        var bytes: Int
    }

    private static let capacity = 8
    /// In the order they were noted, which is about that of time.
    private var entries = InlineArray<8, Entry>(repeating: Entry(at: MonotonicInstant(nanoseconds: 0), bytes: 0))
    private var count = 0

    /// Notes bytes that were returned to the system at an instant.
    mutating func note(_ bytes: ByteCount, at instant: MonotonicInstant) {
        guard bytes > .zero else { return }
        if count == Self.capacity {
            entries[1].bytes = entries[0].bytes.addingClamped(entries[1].bytes)
            entries[1].at = max(entries[0].at, entries[1].at)
            for index in 1..<count { entries[index - 1] = entries[index] }
            count -= 1
        }
        entries[count] = Entry(at: instant, bytes: bytes.bytes)
        count += 1
    }

    /// Forgets what was freed up to an instant: every sample from then on shows it.
    mutating func forget(until instant: MonotonicInstant) {
        var kept = 0
        for index in 0..<count where entries[index].at > instant {
            entries[kept] = entries[index]
            kept += 1
        }
        count = kept
    }

    /// The bytes freed after an instant.
    func freed(since instant: MonotonicInstant) -> ByteCount {
        var sum = 0
        for index in 0..<count where entries[index].at > instant { sum = sum.addingClamped(entries[index].bytes) }
        return ByteCount(bytes: sum)
    }
}

extension Int {
    /// The sum, or the largest number when it does not fit. For terms that are not negative.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
