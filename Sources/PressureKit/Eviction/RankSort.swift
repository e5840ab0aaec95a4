/// Sorts choices by rank, and those of equal rank by index: in place, without a heap allocation, and in time that grows
/// with their number, not with its logarithm.
///
/// A most-significant-digit radix sort that permutes in place (American flag sort: McIlroy, Bostic and McIlroy, Computing
/// Systems 1993). Digits are taken from the first bit in which the ranks of a range differ at all, so that what they
/// have in common costs one look; ranges that are sorted already cost the same look, and short ones are sorted by
/// insertion. The stack holds 1 KiB for each digit: at most 10 deep (48 bits of rank, 32 of index).
package enum RankSort {
    /// What is sorted.
    package typealias Choices = UnsafeMutableBufferPointer<Planner.Choice>

    /// Below this, insertion is faster than a table (measured: 16 to 64 make no difference).
    private static let shortest = 24
    private static let digitBits = 8

    /// Sorts. Returns how many elements were looked at in all, for tests: time without a clock.
    @discardableResult
    package static func sort(_ choices: Choices) -> Int {
        var looks = 0
        unsafe sort(choices, 0, choices.count, byIndex: false, &looks)
        return looks
    }

    /// Sorts `low..<high`: by rank, or, where all ranks are equal, by index.
    private static func sort(_ choices: Choices, _ low: Int, _ high: Int, byIndex: Bool, _ looks: inout Int) {
        guard high - low > shortest else { return unsafe insert(choices, low, high, &looks) }
        looks += high - low
        let first = unsafe choices[low]
        var previous = first
        var differing: UInt64 = 0
        var isSorted = true
        var position = low + 1
        while position < high {
            let next = unsafe choices[position]
            differing |= key(first, byIndex) ^ key(next, byIndex)
            if next < previous { isSorted = false }
            previous = next
            position += 1
        }
        if isSorted { return }
        // Indices differ, so this is where it ends.
        if differing == 0 { return unsafe sort(choices, low, high, byIndex: true, &looks) }
        let shift = max(0, 64 - differing.leadingZeroBitCount - digitBits)
        // One KiB each, which is always taken from the stack.
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1 << digitBits) { ends in
            unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1 << digitBits) { places in
                looks += 2 * (high - low)
                unsafe count(choices, low, high, shift, byIndex, places, ends)
                unsafe distribute(choices, low, shift, byIndex, places, ends)
            }
            var start = low
            var digit = 0
            while digit < 1 << digitBits {
                let end = low + Int(unsafe ends[digit])
                if end - start > 1 { unsafe sort(choices, start, end, byIndex: byIndex, &looks) }
                start = end
                digit += 1
            }
        }
    }

    /// Counts the digits, and says where the elements of each begin and end, from `low` on.
    private static func count(
        _ choices: Choices,
        _ low: Int,
        _ high: Int,
        _ shift: Int,
        _ byIndex: Bool,
        _ places: UnsafeMutableBufferPointer<UInt32>,
        _ ends: UnsafeMutableBufferPointer<UInt32>
    ) {
        var index = 0
        while index < 1 << digitBits {
            // Digits are below the length of both tables.
            unsafe ends[index] = 0
            index += 1
        }
        index = low
        while index < high {
            unsafe ends[digit(choices[index], shift, byIndex)] += 1
            index += 1
        }
        var sum: UInt32 = 0
        index = 0
        while index < 1 << digitBits {
            unsafe places[index] = sum
            unsafe sum += ends[index]
            unsafe ends[index] = sum
            index += 1
        }
    }

    /// Brings every element to the place of its digit, each with one move: what lies there is taken along.
    private static func distribute(
        _ choices: Choices,
        _ low: Int,
        _ shift: Int,
        _ byIndex: Bool,
        _ places: UnsafeMutableBufferPointer<UInt32>,
        _ ends: UnsafeMutableBufferPointer<UInt32>
    ) {
        var filling = 0
        while filling < 1 << digitBits {
            // Every place is one of the range: the counts add up to its length.
            while unsafe places[filling] < ends[filling] {
                let hole = low + Int(unsafe places[filling])
                var element = unsafe choices[hole]
                var own = digit(element, shift, byIndex)
                while own != filling {
                    let place = low + Int(unsafe places[own])
                    unsafe places[own] += 1
                    let displaced = unsafe choices[place]
                    unsafe choices[place] = element
                    element = displaced
                    own = digit(element, shift, byIndex)
                }
                unsafe choices[hole] = element
                unsafe places[filling] += 1
            }
            filling += 1
        }
    }

    private static func digit(_ choice: Planner.Choice, _ shift: Int, _ byIndex: Bool) -> Int {
        Int(truncatingIfNeeded: key(choice, byIndex) >> UInt64(shift)) & ((1 << digitBits) - 1)
    }

    private static func key(_ choice: Planner.Choice, _ byIndex: Bool) -> UInt64 {
        byIndex ? UInt64(choice.index) : choice.rank
    }

    private static func insert(_ choices: Choices, _ low: Int, _ high: Int, _ looks: inout Int) {
        var next = low + 1
        while next < high {
            let element = unsafe choices[next]
            var place = next
            while place > low, unsafe element < choices[place - 1] {
                unsafe choices[place] = choices[place - 1]
                place -= 1
            }
            unsafe choices[place] = element
            looks += next - place + 1
            next += 1
        }
    }
}
