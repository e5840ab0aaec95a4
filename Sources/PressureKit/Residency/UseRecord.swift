/// How ages are measured: against the number of values in memory, since as many arrivals are one turnover.
package struct UseScale: Hashable, Sendable {
    /// How many values are in memory, at least ``fewest``.
    package private(set) var population: UInt32
    /// Ticks of the ``UseClock`` to a unit of a record's time, as a power of two: about a 32nd of the population.
    package private(set) var shift: UInt8

    /// With fewer, chance would say more than use.
    package static let fewest: UInt32 = 64

    /// A scale for so many values.
    package init(population: Int) {
        self.population = max(Self.fewest, UInt32(clamping: population))
        shift = Self.shift(self.population)
    }

    init(population: UInt32, shift: UInt8) {
        self.population = max(Self.fewest, population)
        self.shift = shift
    }

    /// Follows the number of values. Units change only when they are far off: what was recorded is in the old ones.
    package mutating func follow(_ count: Int) {
        population = max(Self.fewest, UInt32(clamping: count))
        let wanted = Self.shift(population)
        if wanted > shift + 1 || wanted + 1 < shift { shift = wanted }
    }

    private static func shift(_ population: UInt32) -> UInt8 { UInt8(max(0, 26 - population.leadingZeroBitCount)) }

    /// A reading of the clock in units.
    func unit(_ stamp: UInt32) -> UInt16 { UInt16(truncatingIfNeeded: stamp >> UInt32(shift)) }

    /// Units as ticks.
    func ticks(_ units: UInt16) -> Float { Float(units) * Float(sign: .plus, exponent: Int(shift), significand: 1) }
}

/// What is remembered of a value's uses, in memory and out of it: how many, the long ago ones less and less, and when
/// the last one was that a plan has seen. Three bytes; a hit writes nothing here, a plan that lists the value does.
package struct UseRecord: Hashable, Sendable {
    /// 0 of a value that no plan has seen; else one more than sixteen times the binary logarithm of the number of uses,
    /// and ``arrivedBit``.
    fileprivate(set) var frequency: UInt8
    /// The last use, in units of a ``UseScale``.
    fileprivate(set) var lastUse: UInt16

    private static let arrivedBit: UInt8 = 0x80

    /// Uses that a plan finds.
    package struct Uses: Hashable, Sendable {
        /// How often the value had been used before: ``UseRecord/level``.
        var level: UInt8
        /// Ticks from one to the next, on average.
        var span: Float
        var count: UInt8
    }

    /// A value that no plan has seen.
    package static let new = UseRecord(frequency: 0, lastUse: 0)

    init(frequency: UInt8, lastUse: UInt16) {
        self.frequency = frequency
        self.lastUse = lastUse
    }

    /// How often it was used, as 16 times the binary logarithm.
    package var level: UInt8 { max(frequency & ~Self.arrivedBit, 1) - 1 }

    /// The value came into memory. Of one that was there before, that is a use like any other.
    package var arrived: UseRecord {
        frequency == 0 ? self : UseRecord(frequency: frequency | Self.arrivedBit, lastUse: lastUse)
    }

    /// A plan has listed the value, which was used last at `stamp`, came at `arrival`, and was hit so often since it was
    /// listed before. Returns its uses since then.
    package mutating func look(stamp: UInt32, arrival: UInt32, hits: UInt8, _ scale: UseScale) -> Uses? {
        let isNew = frequency == 0
        let count = hits + (isNew || frequency & Self.arrivedBit == 0 ? 0 : 1)
        let total = isNew ? Float(stamp &- arrival) : scale.ticks(scale.unit(stamp) &- lastUse)
        let level = level
        lastUse = scale.unit(stamp)
        guard count > 0 else {
            if isNew { frequency = 1 }
            return nil
        }
        let turnovers = total / Float(scale.population)
        // Half of them count after four turnovers.
        let kept = Binary.power(Float(level) / 16 - turnovers / 4)
        frequency = 1 + UInt8(min(126, 16 * Binary.logarithm(kept + Float(count))))
        // Further back than there are records: the units were other ones then.
        return turnovers < 128 ? Uses(level: level, span: total / Float(count), count: count) : nil
    }

    /// Whether nothing of the value's uses is remembered.
    var isNew: Bool { frequency == 0 }

    /// How long ago the last use was, as far as records say.
    func age(at now: UInt32, _ scale: UseScale) -> Float { scale.ticks(scale.unit(now) &- lastUse) }
}

/// Logarithms and powers to the base 2, straight between powers of two: nearer than what they are used on, and the same
/// on every machine.
enum Binary {
    /// Of a positive number.
    static func logarithm(_ value: Float) -> Float { Float(value.exponent) + value.significand - 1 }

    static func power(_ exponent: Float) -> Float {
        guard exponent > -60 else { return 0 }
        let whole = exponent.rounded(.down)
        return Float(sign: .plus, exponent: Int(min(whole, 60)), significand: 1 + exponent - whole)
    }
}
