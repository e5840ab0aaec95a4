/// The bytes of one file on an ``InMemoryFileSystem``: pages of 4 KiB, absent where nothing was written.
struct SparseFile: Sendable {
    static let pageSize = 4096

    /// The name it has, if any.
    var name: String?
    /// The name of the file that this is another description of.
    var origin: String?
    /// Bytes to its end, holes included.
    private(set) var size = 0
    private var pages: [Int: [UInt8]] = [:]

    /// An empty file.
    init(name: String? = nil) { self.name = name }

    /// Bytes of the pages that exist.
    var usedBytes: Int { pages.count * Self.pageSize }

    /// All bytes; holes are zeros.
    var contents: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        // The array is as long as the file.
        unsafe bytes.withUnsafeMutableBytes { _ = unsafe read(at: 0, into: $0) }
        return bytes
    }

    /// Copies as much as there is from `offset` on: the number of bytes.
    func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = max(0, min(target.count, size - offset))
        for piece in Self.pieces(offset, count) {
            // `pieces` cuts up a range no longer than `target`.
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: target[piece.range])
            if let page = pages[piece.page] {
                // Within the page, which the array holds. In one piece: a debug build copies bytes one by one otherwise.
                unsafe page.withUnsafeBytes { page in
                    let end = piece.start + piece.range.count
                    unsafe part.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[piece.start..<end]))
                }
            } else {
                unsafe part.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
        return count
    }

    /// Copies bytes to `offset` until done or until `room` new pages are used up: the number of bytes.
    mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int, room: Int) -> Int {
        var done = 0
        var room = room
        for piece in Self.pieces(offset, source.count) {
            if pages[piece.page] == nil {
                guard room > 0 else { break }
                room -= 1
            }
            // `pieces` cuts up a range as long as `source`; as in `read`.
            unsafe pages[piece.page, default: Self.zeros].withUnsafeMutableBytes { page in
                let end = piece.start + piece.range.count
                unsafe UnsafeMutableRawBufferPointer(rebasing: page[piece.start..<end])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[piece.range]))
            }
            done = piece.range.upperBound
        }
        if done > 0 { size = max(size, offset + done) }
        return done
    }

    /// Cuts the file off, or makes it longer by a hole.
    mutating func truncate(to newSize: Int) {
        if newSize < size {
            punch(newSize..<size)
            pages = pages.filter { $0.key * Self.pageSize < newSize }
        }
        size = newSize
    }

    /// Makes a hole: whole pages go, parts of pages become zeros.
    mutating func punch(_ range: Range<Int>) {
        for piece in Self.pieces(range.lowerBound, range.count) where pages[piece.page] != nil {
            if piece.range.count == Self.pageSize {
                pages[piece.page] = nil
            } else {
                for index in piece.start..<piece.start + piece.range.count { pages[piece.page]?[index] = 0 }
            }
        }
    }

    /// Flips the lowest bit of every byte that was ever written.
    mutating func damage() {
        for page in pages.keys { pages[page] = pages[page]?.map { $0 ^ 1 } }
    }

    private static let zeros = [UInt8](repeating: 0, count: pageSize)

    /// Cuts a range of the file at page boundaries: the page, where the piece starts in it, and which part of the
    /// range it is.
    private static func pieces(_ offset: Int, _ count: Int) -> [(page: Int, start: Int, range: Range<Int>)] {
        var pieces: [(Int, Int, Range<Int>)] = []
        var done = 0
        while done < count {
            let start = (offset + done) % pageSize
            let length = min(pageSize - start, count - done)
            pieces.append(((offset + done) / pageSize, start, done..<done + length))
            done += length
        }
        return pieces
    }
}
