import Glibc

/// Seeded bytes, `randomBits` of each of them random: 0 compresses to almost nothing, 8 not at all.
package func makeBytes(_ count: Int, seed: UInt64, randomBits: Int = 3) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    let mask = UInt64(truncatingIfNeeded: (1 << randomBits) - 1) &* 0x0101_0101_0101_0101
    let words = (0..<(count + 7) / 8).map { _ in generator.next() & mask }
    // A copy of the words' memory, cut to length.
    return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
}

/// Whether both are the same bytes; `==` compares them one by one in a debug build.
package func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count, !left.isEmpty else { return left.count == right.count }
    // Both are of this length, and outlive the call.
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { unsafe memcmp(left.baseAddress!, $0.baseAddress!, left.count) == 0 }
    }
}
