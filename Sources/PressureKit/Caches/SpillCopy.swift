/// A value's copy in a spill file: the file, and a record for each chunk.
///
/// Room for the records is made when the value is loaded or set, so that writing the copy under pressure allocates
/// nothing. A value of one chunk, as most are, keeps its record in place: 32 bytes in all.
@safe
package struct SpillCopy: @unchecked Sendable {
    // Sendable and safe: the array is allocated by `reserve`, freed by `free`, and the whole struct has one owner at a
    // time, as SlotHeader says.
    @safe private enum Records {
        case none
        case one(SpillRecord?)
        case many(UnsafeMutablePointer<SpillRecord?>, count: UInt32)
    }

    private var records = Records.none
    /// The file that holds the chunks.
    package private(set) var file: SegmentFile?

    package init() {}

    /// Makes room for the copy of a value of `byteCount` bytes, in place of what was there.
    package mutating func reserve(byteCount: Int) {
        release()
        let count = SegmentFile.chunkCount(forByteCount: byteCount)
        guard count != chunkCount else { return }
        free()
        switch count {
        case 0: break
        case 1: records = .one(nil)
        default:
            let array = UnsafeMutablePointer<SpillRecord?>.allocate(capacity: count)
            unsafe array.initialize(repeating: nil, count: count)
            unsafe records = .many(array, count: UInt32(count))
        }
    }

    /// How many chunks the copy has, written or not.
    package var chunkCount: Int {
        switch records {
        case .none: 0
        case .one: 1
        case .many(_, let count): Int(count)
        }
    }

    /// Starts a new copy, in `file`.
    package mutating func begin(in file: SegmentFile) { self.file = file }

    /// Where the records go of a value with several chunks, which several workers write at once; `nil` for one chunk.
    package var manyRecords: UnsafeMutablePointer<SpillRecord?>? {
        if case .many(let array, _) = records { unsafe array } else { nil }
    }

    /// Notes the record of the one chunk.
    package mutating func setOnlyRecord(_ record: SpillRecord) { records = .one(record) }

    /// The record of a chunk, if it is written.
    package func record(_ index: Int) -> SpillRecord? {
        switch records {
        case .none: nil
        case .one(let record): record
        case .many(let array, _): unsafe array[index]
        }
    }

    /// The bytes the copy takes in the file.
    package var storedByteCount: Int {
        var sum = 0
        for index in 0..<chunkCount { sum += Int(record(index)?.storedLength ?? 0) }
        return sum
    }

    /// Gives the extents of all chunks that were written back to the file.
    package mutating func release() {
        guard let file else { return }
        for index in 0..<chunkCount {
            guard let record = record(index) else { continue }
            file.release(record)
            if let array = unsafe manyRecords { unsafe array[index] = nil } else { records = .one(nil) }
        }
        self.file = nil
    }

    /// Releases the copy and frees the records.
    package mutating func free() {
        release()
        unsafe manyRecords?.deallocate()
        records = .none
    }
}
