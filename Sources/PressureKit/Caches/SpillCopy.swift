/// A value's copy in a spill file: the file, and a record for each chunk.
///
/// Room for the records is made when the value is loaded or set, so that writing the copy under pressure allocates
/// nothing.
@safe
@usableFromInline
package struct SpillCopy: @unchecked Sendable {
    // Sendable and safe: `records` is allocated by `reserve`, freed by `free`, and the whole struct has one owner at a
    // time, as SlotHeader says.
    private var records: UnsafeMutableBufferPointer<SpillRecord?>
    /// The bytes of the value that the copy holds.
    package private(set) var plainByteCount = 0
    /// The file that holds the chunks.
    package private(set) var file: SegmentFile?

    package init() { unsafe records = UnsafeMutableBufferPointer(start: nil, count: 0) }

    /// Makes room for the copy of a value of `byteCount` bytes, in place of what was there.
    package mutating func reserve(byteCount: Int) {
        release()
        let count = SegmentFile.chunkCount(forByteCount: byteCount)
        plainByteCount = byteCount
        guard unsafe records.count != count else { return }
        unsafe records.deallocate()
        unsafe records = UnsafeMutableBufferPointer(start: nil, count: 0)
        guard count > 0 else { return }
        unsafe records = .allocate(capacity: count)
        unsafe records.initialize(repeating: nil)
    }

    /// How many chunks the copy has, written or not.
    package var chunkCount: Int { unsafe records.count }

    /// Starts a new copy, in `file`.
    package mutating func begin(in file: SegmentFile) { self.file = file }

    /// Where each chunk's record goes, for workers that write different chunks at once.
    package var recordStorage: UnsafeMutablePointer<SpillRecord?>? { unsafe records.baseAddress }

    /// The record of a chunk, if it is written.
    package func record(_ index: Int) -> SpillRecord? { unsafe records[index] }

    /// The bytes the copy takes in the file.
    package var storedByteCount: Int {
        var sum = 0
        for index in 0..<chunkCount { sum += Int(record(index)?.storedLength ?? 0) }
        return sum
    }

    /// Gives the extents of all chunks that were written back to the file.
    package mutating func release() {
        for index in 0..<chunkCount {
            guard let record = record(index) else { continue }
            file?.release(record)
            unsafe records[index] = nil
        }
        file = nil
    }

    /// Releases the copy and frees the records.
    package mutating func free() {
        release()
        unsafe records.deallocate()
        unsafe records = UnsafeMutableBufferPointer(start: nil, count: 0)
        plainByteCount = 0
    }
}
