import Synchronization

/// Finds the slot of a key: open addressing with linear probing over ``KeyCells``.
///
/// Keys are kept in their slots, not here, so a cell costs 8 bytes whatever the key is, and growing needs no key to be
/// hashed again. At most 7/8 full, and growing by half at a time, so never more than 14 bytes a key. Removing shifts what
/// follows back (Knuth, TAOCP 3, algorithm 6.4 R), so there are no tombstones and a table that churns stays as fast as a
/// new one.
///
/// Changed under a lock, and read under it or, once it has a place to publish its cells, without.
@safe @usableFromInline
struct KeyTable {
    // Safe: `published` outlives the table.
    @usableFromInline private(set) var cells = KeyCells(capacity: 8)
    @usableFromInline private(set) var count = 0
    /// Where readers without the lock find the cells.
    private let published: UnsafeMutablePointer<Atomic<UInt>>?
    /// Cells that others have taken the place of, while readers without the lock may look at them.
    private var outdated: [KeyCells] = []

    /// An empty table.
    ///
    /// - Parameter published: where the address of the cells is to stand for readers without the lock.
    init(published: UnsafeMutablePointer<Atomic<UInt>>? = nil) {
        unsafe self.published = published
        publish()
    }

    /// Frees the cells. The table must not be used afterwards, and nobody reads it any more.
    func deallocate() {
        cells.deallocate()
        for cells in outdated { cells.deallocate() }
    }

    /// The bytes of the table itself.
    var byteCount: Int { outdated.reduce(cells.byteCount) { $0 + $1.byteCount } }

    /// The index stored under `hash` for which `matches` holds.
    @inlinable
    func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? { cells.find(hash, where: matches) }

    /// Stores an index that is not there yet.
    mutating func insert(_ hash: UInt32, _ index: UInt32) {
        if (count + 1) * 8 > Int(cells.capacity) * 7 { grow() }
        place(Self.cell(hash, index))
        count += 1
    }

    /// Puts another index in place of one that is there.
    mutating func replace(_ hash: UInt32, _ old: UInt32, by new: UInt32) {
        cells[position(of: hash, old)] = Self.cell(hash, new)
    }

    /// Removes an index that is there.
    mutating func remove(_ hash: UInt32, _ index: UInt32) {
        var hole = position(of: hash, index)
        var position = hole
        while true {
            position = cells.next(position)
            let cell = cells[position]
            if cell == 0 { break }
            // It may move into the hole unless its own place lies after the hole.
            let home = cells.home(UInt32(truncatingIfNeeded: cell >> 32))
            if distance(from: home, to: position) >= distance(from: hole, to: position) {
                cells[hole] = cell
                hole = position
            }
        }
        cells[hole] = 0
        count -= 1
    }

    private static func cell(_ hash: UInt32, _ index: UInt32) -> UInt64 { UInt64(hash) << 32 | UInt64(index &+ 1) }

    private func position(of hash: UInt32, _ index: UInt32) -> UInt32 {
        let cell = Self.cell(hash, index)
        var position = cells.home(hash)
        while cells[position] != cell {
            precondition(cells[position] != 0, "index \(index) is not in the table")
            position = cells.next(position)
        }
        return position
    }

    private func distance(from start: UInt32, to end: UInt32) -> UInt32 {
        end >= start ? end - start : end + cells.capacity - start
    }

    private func place(_ cell: UInt64) {
        var position = cells.home(UInt32(truncatingIfNeeded: cell >> 32))
        while cells[position] != 0 { position = cells.next(position) }
        cells[position] = cell
    }

    private mutating func grow() {
        let old = cells
        cells = KeyCells(capacity: old.capacity + old.capacity / 2)
        for position in 0..<old.capacity where old[position] != 0 { place(old[position]) }
        publish()
        outdated.append(old)
        // Most often nobody is just looking; else at the next growth.
        let isPrivate = unsafe published == nil || HazardScan.isImpossible
        guard isPrivate || HazardScan.fence() else { return }
        outdated.removeAll { cells in
            guard isPrivate || !HazardScan.isPublished(cells.address) else { return false }
            cells.deallocate()
            return true
        }
    }

    private func publish() { unsafe published?.pointee.store(cells.address, ordering: .releasing) }
}
