import Synchronization

/// What a value says of its size. Asking runs the app's code, which may take long and may use the library: it is asked
/// once for each change of a value, with nothing locked and before the value's slot is anybody's.
struct ValueSize: Hashable, Sendable {
    /// The bytes that releasing the value gives back.
    let footprint: Int
    /// The bytes that a copy of the value has to hold; below zero if they have yet to be made, and then it tells how often the
    /// value was changed since it came: -1 for never.
    let plainByteCount: Int

    /// Asks the value.
    init<Value: Spillable>(_ value: borrowing Value) {
        plainByteCount = Value.encodesWhenSpilled ? -1 : value.spillByteCount
        footprint = value.footprint
    }

    /// Asks a value that was changed.
    ///
    /// One whose bytes are made when it is spilled has no number at hand either, and estimates its footprint. It is asked
    /// after the first few changes, and then whenever there have been half as many again, so that a change costs no more
    /// however large the value is.
    init<Value: Spillable>(_ value: borrowing Value, changedFrom before: ValueSize) {
        guard Value.encodesWhenSpilled else {
            self.init(value)
            return
        }
        // A copy that there was counts as the beginning.
        let changes = before.plainByteCount < 0 ? -before.plainByteCount : 1
        self.init(
            footprint: Self.isDue(changes) ? value.footprint : before.footprint,
            plainByteCount: -1 - changes
        )
    }

    init(footprint: Int, plainByteCount: Int) {
        self.footprint = footprint
        self.plainByteCount = plainByteCount
    }

    /// Whether the value is asked after so many changes: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, …
    static func isDue(_ changes: Int) -> Bool {
        let step = 1 << max(0, Int.bitWidth - changes.leadingZeroBitCount - 2)
        return changes % step == 0
    }
}

extension SlotHeader {
    /// What the value has said of its size.
    var size: ValueSize {
        ValueSize(
            footprint: footprint.load(ordering: .relaxed),
            plainByteCount: plainByteCount.load(ordering: .relaxed)
        )
    }
}
