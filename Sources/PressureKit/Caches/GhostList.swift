/// Keys that a reclaim has dropped, by their hashes: how a keyed cache that forgets a dropped key still notices that it was
/// wanted again too soon, and how often it had been used. (ARC's ghost entries, Megiddo and Modha, FAST 2003, without the
/// lists.)
///
/// As many as fit: a hash finds its one place, and a newer one takes it. 8 bytes each; about as many as the shard has slots,
/// so that what was dropped is remembered for a turnover of memory or two. Pure.
struct GhostList {
    /// What is remembered of a key.
    struct Ghost: Equatable {
        /// The ``UseClock`` reading of its eviction.
        var stamp: UInt32
        var uses: UseRecord
    }

    /// From the high bits: the stamp, 13 bits of the hash, 7 of the frequency, 12 of the last use; 0 for none.
    private var cells: [UInt64] = []

    /// Makes room for so many. What was remembered is forgotten when that is more than there was room for: a few times in
    /// the life of a cache, and while it fills. Allocates.
    mutating func reserve(_ count: Int) {
        guard count > cells.count else { return }
        cells = Array(repeating: 0, count: max(count, cells.count + cells.count / 8))
    }

    /// The bytes of all of them.
    var byteCount: Int { cells.count * 8 }

    /// A key was dropped at `stamp`. Returns the one that is forgotten for it. `now` is the time in the units of the record.
    /// Allocates nothing.
    mutating func note(_ hash: UInt32, at stamp: UInt32, _ uses: UseRecord = .new, now: UInt16 = 0) -> Ghost? {
        guard !cells.isEmpty else { return nil }
        let place = place(hash)
        let displaced = cells[place]
        let memory = UInt64(uses.level + 1) << 12 | UInt64(uses.lastUse & 0xFFF)
        cells[place] = UInt64(stamp) << 32 | UInt64(Self.tag(hash)) << 19 | memory
        return displaced != 0 && !Self.isOf(hash, displaced) ? Self.ghost(displaced, at: now) : nil
    }

    /// What is remembered of a key; nothing is any more afterwards.
    mutating func take(_ hash: UInt32, now: UInt16 = 0) -> Ghost? {
        guard !cells.isEmpty else { return nil }
        let place = place(hash)
        guard cells[place] != 0, Self.isOf(hash, cells[place]) else { return nil }
        defer { cells[place] = 0 }
        return Self.ghost(cells[place], at: now)
    }

    /// The highest five bits of a hash choose its shard, so those below them choose here.
    private func place(_ hash: UInt32) -> Int { Int((UInt64(hash << 5) * UInt64(cells.count)) >> 32) }

    /// Bits that are not those of the place.
    private static func tag(_ hash: UInt32) -> UInt32 { (hash &* 0x9E37_79B1) >> 19 }

    private static func isOf(_ hash: UInt32, _ cell: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: cell >> 19) & 0x1FFF == tag(hash)
    }

    private static func ghost(_ cell: UInt64, at now: UInt16) -> Ghost {
        // Of the time there are the low bits; it was no longer ago than they count.
        let ago = (now &- UInt16(truncatingIfNeeded: cell)) & 0xFFF
        let frequency = UInt8(truncatingIfNeeded: cell >> 12) & 0x7F
        return Ghost(
            stamp: UInt32(truncatingIfNeeded: cell >> 32),
            uses: UseRecord(frequency: max(1, frequency), lastUse: now &- ago)
        )
    }
}
