/// Which 4 KiB blocks of a file hold something: what a file system would say the file takes on disk, without asking one.
///
/// The real answer depends on when the kernel allocates; this one depends on the writes alone. Pure.
struct BlockMap: Hashable, Sendable {
    /// Bytes of a block.
    static let blockSize: Int64 = 4096

    private var words: [UInt64] = []
    /// Blocks that hold something.
    private(set) var count = 0
    /// Bytes to the end of the file.
    private(set) var size: Int64 = 0

    /// Bytes of the blocks that hold something.
    var allocatedBytes: Int64 { Int64(count) * Self.blockSize }

    /// Bytes were written.
    mutating func write(at offset: Int64, count: Int) {
        guard count > 0 else { return }
        size = max(size, offset + Int64(count))
        let last = (offset + Int64(count) - 1) / Self.blockSize
        let needed = Int(last / 64) + 1
        if words.count < needed { words += repeatElement(0, count: max(needed - words.count, words.count)) }
        for block in offset / Self.blockSize...last { set(block, true) }
    }

    /// The blocks that lie wholly within a range were given back.
    mutating func punch(at offset: Int64, count: Int64) {
        let first = (offset + Self.blockSize - 1) / Self.blockSize
        let end = min((offset + count) / Self.blockSize, Int64(words.count) * 64)
        guard first < end else { return }
        for block in first..<end { set(block, false) }
    }

    /// The file was cut off, or grew a hole at its end.
    mutating func truncate(to newSize: Int64) {
        if newSize < size {
            let first = (newSize + Self.blockSize - 1) / Self.blockSize
            punch(at: first * Self.blockSize, count: Int64(words.count) * 64 * Self.blockSize)
        }
        size = newSize
    }

    private mutating func set(_ block: Int64, _ isHeld: Bool) {
        let bit = UInt64(1) << UInt64(block % 64)
        guard (words[Int(block / 64)] & bit != 0) != isHeld else { return }
        words[Int(block / 64)] ^= bit
        count += isHeld ? 1 : -1
    }
}
