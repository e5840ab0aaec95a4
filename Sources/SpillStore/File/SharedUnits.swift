/// How many frames are live in each unit that several small frames share.
///
/// A unit is given back when its last frame goes: one that lives long keeps its neighbours' room. That is never worse
/// than a unit for each frame, which is what frames cost that share nothing.
///
/// An open hash table with linear probing and backward-shift deletion (Knuth, The Art of Computer Programming 3, 6.4,
/// Algorithm R), so that it stays as fast as when it was new. Of a fixed size, so that it costs entries nothing:
/// writers promise how many units they may share before they lay out their frames, and share none when no more can be
/// promised. Pure; allocates nothing after it was made.
struct SharedUnits: Sendable {
    /// Places in the table: 128 KiB for 48 MiB of shared units.
    static let size = 1 << 14

    /// A unit in the upper 32 bits, its live frames in the lower; 0 for an empty place, since a shared unit has frames.
    private var places: [UInt64]
    /// Units in the table.
    private(set) var count = 0
    /// Units that may yet come.
    private(set) var promised = 0

    /// A table of `size` places, a power of two.
    init(size: Int = Self.size) {
        precondition(size.nonzeroBitCount == 1)
        places = [UInt64](repeating: 0, count: size)
    }

    /// Keeps room for `units` more units: whether there is any. The table is at most three quarters full.
    mutating func promise(_ units: Int) -> Bool {
        guard count + promised + units <= places.count / 4 * 3 else { return false }
        promised += units
        return true
    }

    /// Gives a promise of `units` back, kept or not.
    mutating func settle(_ units: Int) { promised -= units }

    /// Notes that `frames` frames live in `unit`, which is new here and was promised.
    mutating func insert(_ unit: UInt32, frames: Int) {
        precondition(frames > 0 && count < places.count - 1, "This unit was not promised.")
        places[firstEmpty(from: home(unit))] = UInt64(unit) << 32 | UInt64(frames)
        count += 1
    }

    /// Takes one frame off `unit`; whether it was the last.
    mutating func removeFrame(of unit: UInt32) -> Bool {
        var index = home(unit)
        while Self.unit(places[index]) != unit || places[index] == 0 {
            precondition(places[index] != 0, "This unit is not shared.")
            index = next(index)
        }
        places[index] -= 1
        guard UInt32(truncatingIfNeeded: places[index]) == 0 else { return false }
        remove(at: index)
        return true
    }

    private static func unit(_ place: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: place >> 32) }

    /// Fibonacci hashing: neighbours, as units come, are spread far apart.
    private func home(_ unit: UInt32) -> Int { Int((unit &* 0x9E37_79B9) >> 16) & (places.count - 1) }

    private func next(_ index: Int) -> Int { (index + 1) & (places.count - 1) }

    /// There is one: the table is never full.
    private func firstEmpty(from start: Int) -> Int {
        var index = start
        while places[index] != 0 { index = next(index) }
        return index
    }

    /// Empties a place, and moves those behind it that would not be found any more.
    private mutating func remove(at removed: Int) {
        let mask = places.count - 1
        count -= 1
        var hole = removed
        var index = next(hole)
        while places[index] != 0 {
            // What lies at least as far behind the place where its search begins as behind the hole may fill it.
            if (index - home(Self.unit(places[index]))) & mask >= (index - hole) & mask {
                places[hole] = places[index]
                hole = index
            }
            index = next(index)
        }
        places[hole] = 0
    }
}
