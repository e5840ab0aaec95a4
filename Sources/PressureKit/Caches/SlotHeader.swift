public import Synchronization

/// What a cache slot is besides its value: the state word, who works on it, and the copy in the spill file.
///
/// Fields that are not atomic belong to whoever the word says owns the slot.
@usableFromInline
package struct SlotHeader: ~Copyable {
    /// The raw value of the ``ResidencyWord``.
    @usableFromInline let word = Atomic<UInt64>(ResidencyWord.unloaded.rawValue)

    /// The thread that is loading, restoring or changing the value, to tell a wait from a wait for oneself. 0: nobody.
    let maker = Atomic<UInt32>(0)

    /// The ``UseClock`` reading when the value came into memory.
    let arrival = Atomic<UInt32>(0)

    /// The bytes that releasing the value gives back.
    let footprint = Atomic<Int>(0)

    /// The bytes that a copy of the value has to hold.
    let plainByteCount = Atomic<Int>(0)

    /// The copy. Belongs to the copier while the word says `copying`, to the maker while it is restoring, to the
    /// writer while it is mutating, and otherwise to nobody.
    var copy = SpillCopy()
}

extension SlotHeader {
    /// The state at this moment.
    package var state: ResidencyWord { ResidencyWord(rawValue: word.load(ordering: .acquiring)) }

    /// Applies a step if it is legal, and returns the words before and after; `nil` if it is not.
    ///
    /// Acquires and releases: what the owner before wrote is seen, and what this one wrote is seen by the next.
    package func apply(
        _ step: (ResidencyWord) -> ResidencyWord?
    ) -> (before: ResidencyWord, after: ResidencyWord)? {
        var current = word.load(ordering: .relaxed)
        while true {
            let before = ResidencyWord(rawValue: current)
            guard let after = step(before) else { return nil }
            let (exchanged, original) = word.weakCompareExchange(
                expected: current,
                desired: after.rawValue,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return (before, after) }
            current = original
        }
    }
}
