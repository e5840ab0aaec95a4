import Glibc

/// How much of small values has to leave the heap for so many bytes to go back to the system. Pure.
///
/// The C library gives back whole pages, and a page is free once all that lies on it has left. Where `k` values touch a page and
/// any of them may leave, a part `p` of the heap that is free makes `p^k` of its pages free: of values of 4 KiB, two of which
/// share each page, a third has to leave for a ninth of the memory.
struct PageYield: Hashable, Sendable {
    /// The bytes of the values in memory…
    var resident: Int
    /// …what is free between them…
    var free: Int
    /// …and what one of them takes.
    var size: Int

    private static let page = 4096.0
    /// Of values of more than four pages nearly all goes back.
    private static let fewest = 1.25
    /// Of values that are much smaller than a page nothing goes back until nearly all have left.
    private static let most = 8.0

    /// How many values touch a page.
    private var touching: Double { min(1 + Self.page / Double(max(size, 1)), Self.most) }

    /// Whether of what leaves here and there much stays.
    var isPoor: Bool { touching > Self.fewest }

    /// The bytes of values that have to leave; no less than is to go back, and no more than there is.
    func leaving(for bytes: Int) -> Int {
        let heap = Double(resident + free)
        guard isPoor, heap > 0 else { return bytes }
        let part = Double(free) / heap
        let wanted = pow(min(Double(bytes) / heap + pow(part, touching), 1), 1 / touching)
        return max(bytes, min(Int((wanted - part) * heap), resident))
    }
}
