/// Keys that a reclaim has dropped, by their hashes: how a keyed cache that forgets a dropped key still notices that it was
/// wanted again too soon. (ARC's ghost entries, Megiddo and Modha, FAST 2003, without the lists.)
///
/// As many as fit: a hash finds its one place, and a newer one takes it. Pure; no memory of its own.
struct GhostList {
    private static var count: Int { 32 }
    /// A hash above the ``UseClock`` reading of its eviction; 0 for none.
    private var cells = InlineArray<32, UInt64>(repeating: 0)

    /// A key was dropped at `stamp`.
    mutating func note(_ hash: UInt32, at stamp: UInt32) {
        cells[Self.place(hash)] = UInt64(hash) << 32 | UInt64(stamp)
    }

    /// When a key was dropped, if that is remembered; it is not any more afterwards.
    mutating func take(_ hash: UInt32) -> UInt32? {
        let cell = cells[Self.place(hash)]
        guard cell != 0, UInt32(truncatingIfNeeded: cell >> 32) == hash else { return nil }
        cells[Self.place(hash)] = 0
        return UInt32(truncatingIfNeeded: cell)
    }

    /// The high bits of a hash choose its shard, so those in the middle choose here.
    private static func place(_ hash: UInt32) -> Int { Int(hash >> 8) & (count - 1) }
}
