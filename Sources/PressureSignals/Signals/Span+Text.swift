/// The little of text parsing that the kernel's files need, on bytes in place. Allocates nothing.
extension Span<UInt8> {
    /// The first place of `byte` in `range`.
    package func position(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte { return index }
        return nil
    }

    /// Whether `range` holds exactly `word`.
    func spells(_ word: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { letters in
            // The literal's own bytes, for the length of the call.
            for offset in 0..<letters.count where unsafe self[range.lowerBound + offset] != letters[offset] {
                return false
            }
            return true
        }
    }

    /// The decimal number in `range`, after any blanks, and the place behind its last digit.
    ///
    /// - Returns: `nil` when there is no digit, or when the number does not fit.
    package func decimal(in range: Range<Int>) -> (value: Int, next: Int)? {
        var index = range.lowerBound
        while index < range.upperBound, self[index] == UInt8(ascii: " ") { index += 1 }
        let first = index
        var value = 0
        while index < range.upperBound {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, stillTooLarge) = tens.addingReportingOverflow(Int(digit))
            guard !tooLarge, !stillTooLarge else { return nil }
            value = sum
            index += 1
        }
        return index > first ? (value, index) : nil
    }

    /// The number on the line `"key number"` of a file of such lines. Of two lines with one key the first counts.
    ///
    /// - Returns: `nil` when there is no such line, or no number that fits on it.
    func number(keyed key: StaticString) -> Int? {
        var start = 0
        while start < count {
            let end = position(of: UInt8(ascii: "\n"), in: start..<count) ?? count
            let blank = start + key.utf8CodeUnitCount
            if blank < end, self[blank] == UInt8(ascii: " "), spells(key, in: start..<blank) {
                return decimal(in: blank..<end)?.value
            }
            start = end + 1
        }
        return nil
    }
}
