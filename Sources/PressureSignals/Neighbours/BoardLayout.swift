package import PressureSystem

/// How the file is laid out in which processes below one limit say what they hold: a header and 63 slots of 128 bytes, of
/// words of eight bytes in the machine's order. One process writes a slot, and all read all.
///
/// | word | header | slot |
/// |---|---|---|
/// | 0 | ``magic`` | who holds it: the process's number, and 32 bits that no other holder had; 0 for nobody |
/// | 1 | ``version`` | when it was written, on CLOCK_MONOTONIC |
/// | 2 | number of the newest shortage | values in memory |
/// | 3 | when it was seen | of them, what goes at once |
/// | 4 | how many bytes were missing | of them, what has to be written first |
/// | 5 | who saw it | values ever brought into memory |
/// | 6 | check of 2 to 5 | values ever given back |
/// | 7 | | nanoseconds that readers ever waited for what had been evicted |
/// | 8 | | its claim and its weight, a `Float` each, the claim in the lower half |
/// | 9 | | what is free in its heap, beside its values |
/// | 10 | | its floor |
/// | 11 | | the whole process in memory |
/// | 12 | | the newest shortage that it has looked at |
/// | 13 | | how long after it was seen, in nanoseconds |
/// | 14 | | what it is bringing into memory now |
/// | 15 | | check of 0 to 14 |
///
/// Numbers of bytes unless it is said otherwise. A slot counts while somebody has it locked (the same range of the file, an
/// open-file-description lock), so that one that was killed leaves a free one.
package enum BoardLayout {
    /// `PKBOARD` and a zero.
    package static let magic: UInt64 = 0x0044_5241_4F42_4B50
    /// Another version has a file of another name.
    package static let version: UInt64 = 2
    /// Bytes of the header, and of a slot.
    package static let slotSize = 128
    /// As many processes; others do without.
    package static let slots = 63
    /// Bytes of a file.
    package static let size = (slots + 1) * slotSize

    /// A header or slot.
    package typealias Words = InlineArray<16, UInt64>

    /// A number that tells a slot that was written halfway from one that was written: each word is multiplied and mixed in, as
    /// FNV does with bytes.
    package static func check(_ words: borrowing Words, _ range: Range<Int>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in range {
            hash = (hash ^ words[index]) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        return hash
    }
}

/// What one process says of itself.
package struct BoardSlot: Hashable, Sendable {
    /// The process's number, and 32 bits that no other holder of the slot had.
    package var owner: UInt64 = 0
    /// When it was written.
    package var at = MonotonicInstant(nanoseconds: 0)
    /// Bytes of values in memory.
    package var held = 0
    /// Of them, what can be given back at once.
    package var free = 0
    /// Of them, what has to be written first.
    package var dirty = 0
    /// What is free in its heap and can be given back at once, beside them.
    package var heap = 0
    /// What has come into memory and left it, ever.
    package var books = MemoryBooks.Reading()
    /// Nanoseconds that readers have waited for values that had been evicted, ever.
    package var awaited = 0
    /// What part of the room it lays claim to, beside the claims of others.
    package var claim = 1.0
    /// How much more its readers' waiting counts than that of others.
    package var weight = 1.0
    /// Bytes that nobody asks of it, while others have more than theirs.
    package var floor = 0
    /// Resident bytes of the process.
    package var resident = 0
    /// The number of the newest shortage that it has looked at, and how long after it was seen.
    package var answered = 0
    package var answerTime = Duration.zero
    /// Bytes that are being loaded or restored now.
    package var underWay = 0

    /// A slot of nobody's.
    package init() {}

    /// The number of the process.
    package var process: Int32 { Int32(truncatingIfNeeded: owner >> 32) }

    /// As it is written.
    package var words: BoardLayout.Words {
        var words = BoardLayout.Words(repeating: 0)
        words[0] = owner
        words[1] = UInt64(bitPattern: at.nanoseconds)
        words[2] = UInt64(clamping: held)
        words[3] = UInt64(clamping: free)
        words[4] = UInt64(clamping: dirty)
        words[5] = UInt64(clamping: books.brought)
        words[6] = UInt64(clamping: books.returned)
        words[7] = UInt64(clamping: awaited)
        words[8] = UInt64(max(Float(weight), .leastNormalMagnitude).bitPattern) << 32 | UInt64(Float(claim).bitPattern)
        words[9] = UInt64(clamping: heap)
        words[10] = UInt64(clamping: floor)
        words[11] = UInt64(clamping: resident)
        words[12] = UInt64(clamping: answered)
        words[13] = UInt64(clamping: answerTime.nanoseconds)
        words[14] = UInt64(clamping: underWay)
        words[15] = BoardLayout.check(words, 0..<15)
        return words
    }

    /// Reads a slot; `nil` for one that nobody holds, and for one that is half written. Any bytes are safe: what is out of all
    /// bounds is largest.
    package init?(_ words: borrowing BoardLayout.Words) {
        guard words[0] != 0, words[15] == BoardLayout.check(words, 0..<15) else { return nil }
        owner = words[0]
        at = MonotonicInstant(nanoseconds: Int64(clamping: words[1]))
        held = Int(clamping: words[2])
        free = Int(clamping: words[3])
        dirty = Int(clamping: words[4])
        books = MemoryBooks.Reading(brought: Int(clamping: words[5]), returned: Int(clamping: words[6]))
        awaited = Int(clamping: words[7])
        claim = Double(Float(bitPattern: UInt32(truncatingIfNeeded: words[8])))
        weight = Double(Float(bitPattern: UInt32(truncatingIfNeeded: words[8] >> 32)))
        heap = Int(clamping: words[9])
        floor = Int(clamping: words[10])
        resident = Int(clamping: words[11])
        answered = Int(clamping: words[12])
        answerTime = .nanoseconds(Int64(clamping: words[13]))
        underWay = Int(clamping: words[14])
    }
}

/// A shortage, as whoever saw it first has told the others.
package struct BoardShortage: Hashable, Sendable {
    /// Shortages are numbered.
    package var number = 0
    /// When it was seen.
    package var at = MonotonicInstant(nanoseconds: 0)
    /// Bytes that were missing.
    package var need = 0
    /// Who saw it.
    package var owner: UInt64 = 0

    /// None yet.
    package init() {}

    /// As it is written, with the rest of the header.
    package var words: BoardLayout.Words {
        var words = BoardLayout.Words(repeating: 0)
        words[0] = BoardLayout.magic
        words[1] = BoardLayout.version
        words[2] = UInt64(clamping: number)
        words[3] = UInt64(bitPattern: at.nanoseconds)
        words[4] = UInt64(clamping: need)
        words[5] = owner
        words[6] = BoardLayout.check(words, 2..<6)
        return words
    }

    /// Reads a header; `nil` for one of something else, and for a half written one.
    package init?(_ words: borrowing BoardLayout.Words) {
        guard words[0] == BoardLayout.magic, words[1] == BoardLayout.version else { return nil }
        guard words[6] == BoardLayout.check(words, 2..<6) else { return nil }
        number = Int(clamping: words[2])
        at = MonotonicInstant(nanoseconds: Int64(clamping: words[3]))
        need = Int(clamping: words[4])
        owner = words[5]
    }
}
