#if Redis
/// Which keys of the server hold which parts of the file. Pure: sends nothing, knows no clock and no lock.
///
/// The file is cut into segments, and a segment is one string. A key that was deleted, or that a write may have reached whose
/// answer did not come, gets no further write: what is under way somewhere may arrive later than what is written next, and
/// would take its place. The segment goes on under a key of another number, which has never been used, and those that read
/// what the old one has go on reading it there.
struct RedisSegments {
    /// Units of a segment: with a byte that says that it is whole, and with what the server keeps in front of a string, not
    /// more than 1 MiB, which its allocator (jemalloc) has a size for. A few bytes more would take 1.25 MiB.
    static let unitsInSegment = 255
    /// Bytes of a segment.
    static let segmentLength = unitsInSegment * ExtentAllocator.unitSize

    /// A range of bytes that lies in one key.
    struct Part: Hashable {
        /// The key's number.
        var number: UInt32
        /// Where in the key's string.
        var offset: Int
        /// Which bytes of those that are written or read.
        var range: Range<Int>
        /// Of which segment the key is, and which of its units these are.
        fileprivate var segment: Int
        fileprivate var units: Units
    }

    /// Some units of one segment.
    fileprivate struct Units: Hashable {
        private var bits = SIMD4<UInt64>()

        init() {}

        init(_ range: Range<Int>) {
            for word in 0..<4 {
                let part = range.clamped(to: word * 64..<word * 64 + 64)
                guard !part.isEmpty else { continue }
                bits[word] = (UInt64.max >> UInt64(64 - part.count)) << UInt64(part.lowerBound - word * 64)
            }
        }

        var isEmpty: Bool { bits == SIMD4() }

        func isSuperset(of other: Units) -> Bool { bits & other.bits == other.bits }

        mutating func insert(_ other: Units) { bits |= other.bits }

        mutating func remove(_ other: Units) { bits &= ~other.bits }
    }

    private struct Key {
        let number: UInt32
        /// The units that were written there and have not been given back, or are being written.
        var live = Units()
        /// Whether it takes writes.
        var isOpen = true
    }

    /// The keys of each segment: one, unless something went wrong.
    private var segments: [Int: [Key]] = [:]
    private var lastNumber: UInt32 = 0
    /// Keys that hold nothing any more, to be deleted.
    private var garbage: [UInt32] = []
    /// How many keys there are.
    private(set) var count = 0

    /// A write begins: where its bytes go. Whatever else held these units holds them no more.
    mutating func beginWrite(at offset: Int64, count: Int) -> [Part] {
        Self.cut(at: offset, count: count) { segment, units in
            var keys = segments[segment] ?? []
            for index in keys.indices where !keys[index].isOpen { keys[index].live.remove(units) }
            if !keys.contains(where: \.isOpen) {
                lastNumber += 1
                self.count += 1
                keys.append(Key(number: lastNumber))
            }
            guard let index = keys.firstIndex(where: \.isOpen) else { return nil }
            keys[index].live.insert(units)
            let number = keys[index].number
            keep(keys, of: segment)
            return number
        }
    }

    /// A write has failed: its units are nobody's.
    ///
    /// - Parameter mayArrive: whether the server may carry it out yet.
    mutating func failWrite(_ parts: [Part], mayArrive: Bool) {
        for part in parts {
            guard var keys = segments[part.segment],
                let index = keys.firstIndex(where: { $0.number == part.number })
            else { continue }
            keys[index].live.remove(part.units)
            if mayArrive { keys[index].isOpen = false }
            keep(keys, of: part.segment)
        }
    }

    /// Where the bytes of a range are; as far as they are anywhere.
    func parts(at offset: Int64, count: Int) -> [Part] {
        Self.cut(at: offset, count: count) { segment, units in
            segments[segment]?.first { $0.live.isSuperset(of: units) }?.number
        }
    }

    /// Whole units are given back. A count of `Int64.max` goes to the end of the file.
    mutating func giveBack(at offset: Int64, count: Int64) {
        let unit = Int64(ExtentAllocator.unitSize)
        let first = Int((offset + unit - 1) / unit)
        let end = count == .max ? Int.max : Int((offset + count) / unit)
        guard first < end else { return }
        for segment in touched(first / Self.unitsInSegment, (end - 1) / Self.unitsInSegment) {
            guard var keys = segments[segment] else { continue }
            let start = segment * Self.unitsInSegment
            let units = Units(max(first - start, 0)..<min(end - start, Self.unitsInSegment))
            for index in keys.indices { keys[index].live.remove(units) }
            keep(keys, of: segment)
        }
    }

    /// The keys that hold nothing any more; each is told of once.
    mutating func takeGarbage() -> [UInt32] {
        defer { garbage = [] }
        return garbage
    }

    /// The keys that hold something, in no order.
    var numbers: [UInt32] { segments.values.flatMap { $0.map(\.number) } }

    /// Bytes from the start of the file to the end of its last segment.
    var length: Int { (segments.keys.max().map { $0 + 1 } ?? 0) * Self.segmentLength }

    /// Segments in a range that have keys, without walking a range that has no end.
    private func touched(_ first: Int, _ last: Int) -> [Int] {
        last - first < segments.count ? Array(first...last) : segments.keys.filter { first...last ~= $0 }
    }

    /// Puts a segment's keys back, without those that hold nothing.
    private mutating func keep(_ keys: [Key], of segment: Int) {
        let kept = keys.filter { !$0.live.isEmpty }
        for key in keys where key.live.isEmpty {
            garbage.append(key.number)
            count -= 1
        }
        segments[segment] = kept.isEmpty ? nil : kept
    }

    /// Cuts a range at the ends of segments; ends early where `key` has none.
    private static func cut(at offset: Int64, count: Int, key: (Int, Units) -> UInt32?) -> [Part] {
        var parts: [Part] = []
        var done = 0
        while done < count {
            let place = Int(offset) + done
            let (segment, start) = place.quotientAndRemainder(dividingBy: segmentLength)
            let length = min(count - done, segmentLength - start)
            let unit = ExtentAllocator.unitSize
            let units = Units(start / unit..<(start + length + unit - 1) / unit)
            guard let number = key(segment, units) else { break }
            parts.append(
                Part(number: number, offset: start, range: done..<done + length, segment: segment, units: units)
            )
            done += length
        }
        return parts
    }
}
#endif
