import PressureKit

/// Writes that were taken and will be gone: which pages of which file, and what the file will say.
struct LateWrites: Sendable {
    private static let page: Int64 = 4096

    /// Descriptors that go past the page cache, and the one that does not of the same file.
    var directs: [CInt: CInt] = [:]
    private var pages: [CInt: [Int64: CInt]] = [:]
    private var errors: [CInt: CInt] = [:]

    /// A piece of a file.
    struct Piece: Hashable, Sendable {
        var descriptor: CInt
        var offset: Int64
    }

    /// Bytes were written, and will be gone with an error number, or are sound or not there any more with none.
    mutating func note(_ descriptor: CInt, at offset: Int64, count: Int64, _ number: CInt?) {
        let descriptor = directs[descriptor] ?? descriptor
        guard count > 0, number != nil || pages[descriptor]?.isEmpty == false else { return }
        for page in offset / Self.page...(offset + count - 1) / Self.page {
            pages[descriptor, default: [:]][page] = number
        }
    }

    /// A file was cut off.
    mutating func cut(_ descriptor: CInt, at size: Int64) {
        pages[descriptor] = pages[descriptor]?.filter { $0.key * Self.page < size }
    }

    /// A range goes to the device: what is gone now.
    mutating func writeBack(_ descriptor: CInt, at offset: Int64, count: Int64) -> [Piece] {
        // As in the protocol: 0 for all that follows.
        let end = count == 0 ? Int64.max : offset + count - 1
        let range = offset / Self.page...max(offset, end) / Self.page
        return (pages[descriptor] ?? [:]).filter { range.contains($0.key) }.map { page, number in
            pages[descriptor]?[page] = nil
            errors[descriptor] = number
            return Piece(descriptor: descriptor, offset: page * Self.page)
        }
    }

    /// All that is still to go to the device goes there: what is gone now.
    mutating func writeBack() -> [Piece] { pages.keys.flatMap { writeBack($0, at: 0, count: .max) } }

    /// What a file has to say, once.
    mutating func takeError(of descriptor: CInt) -> CInt? { errors.removeValue(forKey: descriptor) }

    mutating func close(_ descriptor: CInt) {
        directs[descriptor] = nil
        pages[descriptor] = nil
        errors[descriptor] = nil
    }
}

extension FaultyFileSystem {
    /// Has all that was written go to the device, as the kernel does by itself in its own time: what was to be gone is
    /// gone, and nobody has been told yet.
    public func writeBack() { lose(state.withLock { $0.late.writeBack() }) }

    /// Whether a descriptor goes past the page cache.
    func isDirect(_ descriptor: CInt) -> Bool { state.withLock { $0.late.directs[descriptor] != nil } }

    /// The bytes are zeros now.
    func lose(_ pieces: [LateWrites.Piece]) {
        for piece in pieces { try? base.punchHole(piece.descriptor, at: piece.offset, count: 4096) }
    }
}
