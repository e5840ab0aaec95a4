/// Makes a value's bytes, again and again the same: what a cache must give back.
package protocol ContentSource: Sendable {
    /// Writes the bytes of value `index` into the whole of `bytes`. Any thread; may block on a file.
    ///
    /// - Throws: ``ContentError`` when a file has changed or is gone.
    func fill(_ bytes: inout MutableRawSpan, index: Int) throws
}

/// Content that cannot be made here.
package struct ContentError: Error, Hashable, CustomStringConvertible {
    /// What happened and what to do about it.
    package var description: String

    package init(description: String) { self.description = description }
}

/// Bytes of which a stated share compresses away.
///
/// Each block of 1 KiB begins with random bytes, which no codec shortens, and ends with a run of one byte, which every
/// codec reduces to almost nothing.
package struct SyntheticContent: ContentSource {
    /// The share that compresses away, 0 … 1.
    var compressibility: Double
    var seed: UInt64

    static let block = 1024

    package init(compressibility: Double, seed: UInt64) {
        self.compressibility = compressibility
        self.seed = seed
    }

    package func fill(_ bytes: inout MutableRawSpan, index: Int) {
        var random = SplitMix64(seed: seed, stream: UInt64(index))
        let noise = Int((Double(Self.block) * (1 - compressibility)).rounded())
        var offset = 0
        while offset < bytes.byteCount {
            let end = min(offset + Self.block, bytes.byteCount)
            let quiet = min(offset + noise, end)
            while offset < quiet { offset = bytes.put(random.next(), at: offset, end: quiet) }
            let run = random.next() & 0xFF &* 0x0101_0101_0101_0101
            while offset < end { offset = bytes.put(run, at: offset, end: end) }
        }
    }
}

/// Words in the frequencies of natural language (Zipf's law), with spaces and line ends: about as compressible as prose.
///
/// Written once, and copied in passages: making a value has to be quicker than any loader that it plays.
package struct TextContent: ContentSource {
    private let seed: UInt64
    private let prose: [UInt8]

    /// The bytes of a passage, and of the prose: so many passages that hardly one comes twice within the 32 KiB that
    /// deflate looks back.
    private static let passage = 4 << 10
    private static let length = 512 << 10

    package init(seed: UInt64, vocabulary: Int = 4096) {
        self.seed = seed
        // The words are the seed's too: syllables of a consonant and a vowel, the more frequent the shorter.
        var random = SplitMix64(seed: seed, stream: .max)
        let consonants = Array("bcdfghjklmnprstvw".utf8)
        let vowels = Array("aeiou".utf8)
        let words: [[UInt8]] = (0..<vocabulary).map { rank in
            (0...(rank.bitWidth - rank.leadingZeroBitCount) / 4).flatMap { _ in
                [consonants.randomElement(using: &random) ?? 0x62, vowels.randomElement(using: &random) ?? 0x61]
            }
        }
        let ranks = ZipfDistribution(count: vocabulary, alpha: 1)
        var prose: [UInt8] = []
        prose.reserveCapacity(Self.length)
        while prose.count < Self.length {
            prose += words[ranks.sample(&random) - 1]
            prose.append(random.next() & 15 == 0 ? 0x0A : 0x20)
        }
        self.prose = prose
    }

    package func fill(_ bytes: inout MutableRawSpan, index: Int) {
        var random = SplitMix64(seed: seed, stream: UInt64(index))
        // Neither leaves the closure that its pointer is valid in.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe prose.withUnsafeBytes { prose in
                var offset = 0
                while offset < bytes.count {
                    let count = min(Self.passage, bytes.count - offset)
                    let start = Int(random.next() % UInt64(prose.count - count))
                    // Both ranges are within their bytes.
                    unsafe (bytes.baseAddress! + offset).copyMemory(
                        from: prose.baseAddress! + start,
                        byteCount: count
                    )
                    offset += count
                }
            }
        }
    }
}

extension MutableRawSpan {
    /// Stores the first bytes of a little-endian word, at most up to `end`, and returns the offset behind them.
    package mutating func put(_ word: UInt64, at offset: Int, end: Int) -> Int {
        if offset + 8 <= end {
            storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
            return offset + 8
        }
        for index in 0..<max(end - offset, 0) {
            storeBytes(
                of: UInt8(truncatingIfNeeded: word >> (8 * UInt64(index))),
                toByteOffset: offset + index,
                as: UInt8.self
            )
        }
        return end
    }
}
