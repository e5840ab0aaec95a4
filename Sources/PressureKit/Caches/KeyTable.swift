/// Finds the slot of a key: open addressing with linear probing over 64-bit cells, each half hash, half index.
///
/// Keys are kept in their slots, not here, so a cell costs 8 bytes whatever the key is, and growing needs no key to be
/// hashed again. At most 7/8 full, and growing by half at a time, so never more than 14 bytes a key. A hash finds its cell
/// by a multiplication (Lemire, "Fast Random Integer Generation in an Interval", TOMACS 2019), since the number of cells
/// is no power of two. Removing shifts what follows back (Knuth, TAOCP 3, algorithm 6.4 R), so there are no
/// tombstones and a table that churns stays as fast as a new one.
@safe @usableFromInline
struct KeyTable {
    // Safe: `cells` has `capacity` elements, and every position is below it.
    @usableFromInline var cells: UnsafeMutablePointer<UInt64>
    @usableFromInline var capacity: UInt32
    @usableFromInline private(set) var count = 0

    /// An empty table.
    init() {
        unsafe cells = .allocate(capacity: 8)
        unsafe cells.initialize(repeating: 0, count: 8)
        capacity = 8
    }

    /// Frees the cells. The table must not be used afterwards.
    func deallocate() { unsafe cells.deallocate() }

    /// The bytes of the table itself.
    var byteCount: Int { Int(capacity) * MemoryLayout<UInt64>.stride }

    /// The cell a hash would have if all were free.
    @inlinable
    func home(_ hash: UInt32) -> UInt32 {
        // Mixed first: the high bits are the same for all keys of a shard.
        UInt32(truncatingIfNeeded: (UInt64(hash &* 0x9E37_79B1) &* UInt64(capacity)) >> 32)
    }

    @inlinable
    func next(_ position: UInt32) -> UInt32 { position + 1 == capacity ? 0 : position + 1 }

    /// The index stored under `hash` for which `matches` holds.
    @inlinable
    func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
        var position = home(hash)
        while true {
            let cell = unsafe cells[Int(position)]
            if cell == 0 { return nil }
            let index = UInt32(truncatingIfNeeded: cell) &- 1
            if UInt32(truncatingIfNeeded: cell >> 32) == hash, matches(index) { return index }
            position = next(position)
        }
    }

    /// Stores an index that is not there yet.
    mutating func insert(_ hash: UInt32, _ index: UInt32) {
        if (count + 1) * 8 > Int(capacity) * 7 { grow() }
        place(Self.cell(hash, index))
        count += 1
    }

    /// Puts another index in place of one that is there.
    mutating func replace(_ hash: UInt32, _ old: UInt32, by new: UInt32) {
        unsafe cells[position(of: hash, old)] = Self.cell(hash, new)
    }

    /// Removes an index that is there.
    mutating func remove(_ hash: UInt32, _ index: UInt32) {
        var hole = UInt32(position(of: hash, index))
        var position = hole
        while true {
            position = next(position)
            let cell = unsafe cells[Int(position)]
            if cell == 0 { break }
            // It may move into the hole unless its own place lies after the hole.
            let home = home(UInt32(truncatingIfNeeded: cell >> 32))
            if distance(from: home, to: position) >= distance(from: hole, to: position) {
                unsafe cells[Int(hole)] = cell
                hole = position
            }
        }
        unsafe cells[Int(hole)] = 0
        count -= 1
    }

    private static func cell(_ hash: UInt32, _ index: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(index &+ 1) }

    private func position(of hash: UInt32, _ index: UInt32) -> Int {
        let cell = Self.cell(hash, index)
        var position = home(hash)
        while unsafe cells[Int(position)] != cell {
            precondition(unsafe cells[Int(position)] != 0, "index \(index) is not in the table")
            position = next(position)
        }
        return Int(position)
    }

    private func distance(from start: UInt32, to end: UInt32) -> UInt32 {
        end >= start ? end - start : end + capacity - start
    }

    private mutating func place(_ cell: UInt64) {
        var position = home(UInt32(truncatingIfNeeded: cell >> 32))
        while unsafe cells[Int(position)] != 0 { position = next(position) }
        unsafe cells[Int(position)] = cell
    }

    private mutating func grow() {
        let old = unsafe cells
        let oldCount = Int(capacity)
        capacity += capacity / 2
        unsafe cells = .allocate(capacity: Int(capacity))
        unsafe cells.initialize(repeating: 0, count: Int(capacity))
        for position in 0..<oldCount where unsafe old[position] != 0 { place(unsafe old[position]) }
        unsafe old.deallocate()
    }
}
