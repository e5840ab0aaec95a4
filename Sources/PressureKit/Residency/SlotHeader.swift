public import Synchronization

/// What anybody may look at in a cache slot at any time: the state word, who works on it, and how large it is.
///
/// All of it is atomic. The copy and the value lie behind it in the slot, not in it: they have one owner at a time.
@usableFromInline
package struct SlotHeader: ~Copyable {
    /// The raw value of the ``ResidencyWord``.
    @usableFromInline let word = Atomic<UInt64>(ResidencyWord.unloaded.rawValue)

    /// The thread that is loading, restoring or changing the value, to tell a wait from a wait for oneself. 0: nobody.
    let maker = Atomic<UInt32>(0)

    /// The slot's own place among those of a cache with many; 0 elsewhere. The same for as long as there is the slot.
    let home: UInt32

    init(home: UInt32 = 0) { self.home = home }
    /// The ``UseClock`` reading when the value came into memory.
    let arrival = Atomic<UInt32>(0)

    /// The raw value of the ``CacheVariant`` that was loaded last.
    let variant = Atomic<UInt8>(0)

    /// The two parts of the ``UseRecord``. Written by whoever lists the value, brings it in or gives its slot away, one at
    /// a time but for two plans at once, which may lose each other a use.
    private let frequency = Atomic<UInt8>(0)
    private let lastUse = Atomic<UInt16>(0)

    /// The bytes that releasing the value gives back.
    let footprint = Atomic<Int>(0)

    /// The bytes that a copy of the value has to hold. Below zero if they have yet to be made.
    let plainByteCount = Atomic<Int>(0)

    /// Where in a slot the ``SpillCopy`` is. It belongs to the copier while the word says `copying`, to the maker while it
    /// is loading or restoring, to the writer while it is mutating, and otherwise to nobody.
    @inlinable static var copyOffset: Int {
        let alignment = MemoryLayout<SpillCopy>.alignment
        return (MemoryLayout<SlotHeader>.size + alignment - 1) & ~(alignment - 1)
    }
}

extension SlotHeader {
    /// What is remembered of the value's uses.
    var uses: UseRecord {
        UseRecord(frequency: frequency.load(ordering: .relaxed), lastUse: lastUse.load(ordering: .relaxed))
    }

    /// Remembers uses.
    func remember(_ uses: UseRecord) {
        frequency.store(uses.frequency, ordering: .relaxed)
        lastUse.store(uses.lastUse, ordering: .relaxed)
    }

    /// The word, for a look at its bias: what is read without it is looked at again.
    @inlinable var bias: ResidencyWord { ResidencyWord(rawValue: word.load(ordering: .relaxed)) }

    /// The state at this moment.
    package var state: ResidencyWord { ResidencyWord(rawValue: word.load(ordering: .acquiring)) }

    /// Gives one pin back; returns whether it was the last one of a slot that has been replaced.
    @inlinable
    func unpin() -> Bool {
        let left = word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
        guard left & ResidencyWord.phaseMask == ResidencyWord.retiredBits else { return false }
        return left & (ResidencyWord.pinMask | ResidencyWord.copyingBit) == 0
    }

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
