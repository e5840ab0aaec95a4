/// Finds the slot of a key: open addressing with linear probing over 64-bit cells, each half hash, half index.
///
/// Keys are kept in their slots, not here, so a cell costs 8 bytes whatever the key is, and growing needs no key to be
/// hashed again. At most 7/8 full. Removing shifts what follows back (Knuth, TAOCP 3, algorithm 6.4 R), so there are no
/// tombstones and a table that churns stays as fast as a new one.
@safe @usableFromInline
struct KeyTable {
    // Safe: `cells` has `mask + 1` elements, and every position is masked.
    @usableFromInline var cells: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask: UInt32
    @usableFromInline private(set) var count = 0

    /// An empty table.
    init() {
        unsafe cells = .allocate(capacity: 8)
        unsafe cells.initialize(repeating: 0, count: 8)
        mask = 7
    }

    /// Frees the cells. The table must not be used afterwards.
    func deallocate() { unsafe cells.deallocate() }

    /// The bytes of the table itself.
    var byteCount: Int { (Int(mask) + 1) * MemoryLayout<UInt64>.stride }

    /// The index stored under `hash` for which `matches` holds.
    @inlinable
    func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
        var position = hash & mask
        while true {
            let cell = unsafe cells[Int(position)]
            if cell == 0 { return nil }
            let index = UInt32(truncatingIfNeeded: cell) &- 1
            if UInt32(truncatingIfNeeded: cell >> 32) == hash, matches(index) { return index }
            position = (position &+ 1) & mask
        }
    }

    /// Stores an index that is not there yet.
    mutating func insert(_ hash: UInt32, _ index: UInt32) {
        if (count + 1) * 8 > (Int(mask) + 1) * 7 { grow() }
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
        var next = hole
        while true {
            next = (next &+ 1) & mask
            let cell = unsafe cells[Int(next)]
            if cell == 0 { break }
            // It may move into the hole unless its own place lies after the hole.
            let home = UInt32(truncatingIfNeeded: cell >> 32) & mask
            if (next &- home) & mask >= (next &- hole) & mask {
                unsafe cells[Int(hole)] = cell
                hole = next
            }
        }
        unsafe cells[Int(hole)] = 0
        count -= 1
    }

    private static func cell(_ hash: UInt32, _ index: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(index &+ 1) }

    private func position(of hash: UInt32, _ index: UInt32) -> Int {
        let cell = Self.cell(hash, index)
        var position = hash & mask
        while unsafe cells[Int(position)] != cell {
            precondition(unsafe cells[Int(position)] != 0, "index \(index) is not in the table")
            position = (position &+ 1) & mask
        }
        return Int(position)
    }

    private mutating func place(_ cell: UInt64) {
        var position = UInt32(truncatingIfNeeded: cell >> 32) & mask
        while unsafe cells[Int(position)] != 0 { position = (position &+ 1) & mask }
        unsafe cells[Int(position)] = cell
    }

    private mutating func grow() {
        let old = unsafe cells
        let oldCount = Int(mask) + 1
        unsafe cells = .allocate(capacity: 2 * oldCount)
        unsafe cells.initialize(repeating: 0, count: 2 * oldCount)
        mask = mask * 2 + 1
        for position in 0..<oldCount where unsafe old[position] != 0 { place(unsafe old[position]) }
        unsafe old.deallocate()
    }
}
