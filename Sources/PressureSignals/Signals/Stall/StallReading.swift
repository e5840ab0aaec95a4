/// What a file of pressure stall information says: how long tasks have waited for memory since boot, or since the cgroup
/// was made. See `Documentation/accounting/psi.rst` of the kernel.
package struct StallTotals: Hashable, Sendable {
    /// Microseconds in which at least one task waited.
    package var some: Int
    /// Microseconds in which all tasks that had anything to do waited; missing in files that have no such line.
    package var full: Int?
    /// The part of the last ten seconds in which some task waited, in hundredths of a per cent.
    package var someAverage: Int
    /// The same for all tasks.
    package var fullAverage: Int

    /// Creates totals.
    package init(some: Int, full: Int?, someAverage: Int = 0, fullAverage: Int = 0) {
        self.some = some
        self.full = full
        self.someAverage = someAverage
        self.fullAverage = fullAverage
    }
}

/// One look at stalled time.
package struct StallReading: Hashable, Sendable {
    /// Whose tasks waited.
    package enum Scope: String, Hashable, Sendable, CaseIterable {
        /// The process's own cgroup's.
        case own
        /// Those of a cgroup above it, strangers among them.
        case above
        /// Those of the whole machine.
        case host
    }

    /// The time so far.
    package var totals: StallTotals
    /// Whose.
    package var scope: Scope
    /// A trigger is armed, and wakes the monitor.
    package var isArmed: Bool
    /// It has, since the last reading. It may have been a false alarm.
    package var hasFired: Bool
    /// Some have waited, though not long enough for the level: reason to look closer for a while.
    package var hasFiredEarly: Bool

    /// Creates a reading.
    package init(totals: StallTotals, scope: Scope, isArmed: Bool, hasFired: Bool, hasFiredEarly: Bool = false) {
        self.totals = totals
        self.scope = scope
        self.isArmed = isArmed
        self.hasFired = hasFired
        self.hasFiredEarly = hasFiredEarly
    }
}

extension StallTotals {
    /// Reads the text of `memory.pressure`: a line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for
    /// `full`. Pure; allocates nothing; any bytes are safe. Unknown lines and fields are passed over.
    ///
    /// - Returns: `nil` when there is no whole `some` line.
    package static func parse(_ text: borrowing Span<UInt8>) -> StallTotals? {
        var some: (total: Int, average: Int)?
        var full: (total: Int, average: Int)?
        var start = 0
        while start < text.count {
            let end = text.position(of: UInt8(ascii: "\n"), in: start..<text.count) ?? text.count
            let blank = text.position(of: UInt8(ascii: " "), in: start..<end) ?? end
            if text.spells("some", in: start..<blank) {
                some = some ?? line(text, in: blank..<end)
            } else if text.spells("full", in: start..<blank) {
                full = full ?? line(text, in: blank..<end)
            }
            start = end + 1
        }
        guard let some else { return nil }
        return StallTotals(
            some: some.total,
            full: full?.total,
            someAverage: some.average,
            fullAverage: full?.average ?? 0
        )
    }

    private static func line(_ text: borrowing Span<UInt8>, in range: Range<Int>) -> (total: Int, average: Int)? {
        var total: Int?
        var average = 0
        var index = range.lowerBound
        while index < range.upperBound {
            let end = text.position(of: UInt8(ascii: " "), in: index..<range.upperBound) ?? range.upperBound
            if let equals = text.position(of: UInt8(ascii: "="), in: index..<end) {
                if text.spells("total", in: index..<equals) {
                    total = text.decimal(in: equals + 1..<end)?.value
                } else if text.spells("avg10", in: index..<equals) {
                    average = hundredths(text, in: equals + 1..<end)
                }
            }
            index = end + 1
        }
        return total.map { ($0, average) }
    }

    /// `"12.34"` as 1234; the kernel writes two decimals.
    private static func hundredths(_ text: borrowing Span<UInt8>, in range: Range<Int>) -> Int {
        guard let (whole, point) = text.decimal(in: range), whole <= 100 else { return 0 }
        // A point and two digits, no less: the range of the decimals has to be one.
        guard range.upperBound - point == 3, text[point] == UInt8(ascii: "."),
            let (part, next) = text.decimal(in: point + 1..<range.upperBound), next == range.upperBound
        else { return whole * 100 }
        return whole * 100 + part
    }
}
