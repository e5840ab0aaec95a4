import SpillStore

/// A value's copy in a spill file: the file, and a record for each chunk.
///
/// Room for the records is made when the value is loaded or set, so that writing the copy under pressure allocates
/// nothing. A value of one chunk, as most are, keeps its record in place: 32 bytes in all.
@safe
@usableFromInline
package struct SpillCopy: @unchecked Sendable {
    // Sendable and safe: the array is allocated by `reserve`, freed by `free`, and the whole struct has one owner at a
    // time, as SlotHeader says.
    /// The one chunk's record; or, with a plain length of 0, which no chunk has, what there is room for: `unit` chunks, in
    /// an array at the address `generation` if they are more than one. `nil` when there is room for none.
    private var room: SpillRecord?
    /// The file that holds the chunks.
    package private(set) var file: SegmentFile?

    package init() {}

    private static func room(for count: Int, at address: UInt) -> SpillRecord {
        SpillRecord(
            generation: UInt64(address),
            unit: UInt32(count),
            storedLength: 0,
            plainLength: 0,
            codec: .stored
        )
    }

    /// Makes room for the copy of a value of `byteCount` bytes, in place of what was there.
    package mutating func reserve(byteCount: Int) {
        release()
        let count = SegmentFile.chunkCount(forByteCount: byteCount)
        guard count != chunkCount else { return }
        free()
        switch count {
        case 0: break
        case 1: room = Self.room(for: 1, at: 0)
        default:
            let array = UnsafeMutablePointer<SpillRecord?>.allocate(capacity: count)
            unsafe array.initialize(repeating: nil, count: count)
            room = Self.room(for: count, at: UInt(bitPattern: array))
        }
    }

    /// How many chunks the copy has, written or not.
    package var chunkCount: Int {
        guard let room else { return 0 }
        return room.plainLength == 0 ? Int(room.unit) : 1
    }

    /// Starts a new copy, in `file`.
    package mutating func begin(in file: SegmentFile) { self.file = file }

    /// Where the records go of a value with several chunks, which several workers write at once; `nil` for one chunk.
    package var manyRecords: UnsafeMutablePointer<SpillRecord?>? {
        guard let room, room.plainLength == 0, room.unit > 1 else { return nil }
        // Put there by `reserve`.
        return unsafe UnsafeMutablePointer(bitPattern: UInt(room.generation))
    }

    /// Notes the record of the one chunk.
    package mutating func setOnlyRecord(_ record: SpillRecord) { room = record }

    /// Notes the record of a chunk, if nobody else notes any.
    mutating func note(_ record: SpillRecord, _ index: Int) {
        if let records = unsafe manyRecords { unsafe records[index] = record } else { setOnlyRecord(record) }
    }

    /// The record of a chunk, if it is written.
    package func record(_ index: Int) -> SpillRecord? {
        if let array = unsafe manyRecords { return unsafe array[index] }
        guard let room, room.plainLength > 0 else { return nil }
        return room
    }

    /// The bytes the copy takes in the file.
    package var storedByteCount: Int {
        var sum = 0
        for index in 0..<chunkCount { sum += Int(record(index)?.storedLength ?? 0) }
        return sum
    }

    /// The plain bytes of the chunks that are compressed, which reading the copy back has to decompress.
    package var compressedByteCount: Int {
        var sum = 0
        for index in 0..<chunkCount {
            if let record = record(index), record.codec != .stored { sum += Int(record.plainLength) }
        }
        return sum
    }

    /// Gives the extents of all chunks that were written back to the file.
    package mutating func release() {
        guard let file else { return }
        for index in 0..<chunkCount {
            guard let record = record(index) else { continue }
            file.release(record)
            if let array = unsafe manyRecords { unsafe array[index] = nil } else { room = Self.room(for: 1, at: 0) }
        }
        self.file = nil
    }

    /// Releases the copy and frees the records.
    package mutating func free() {
        release()
        unsafe manyRecords?.deallocate()
        room = nil
    }
}
