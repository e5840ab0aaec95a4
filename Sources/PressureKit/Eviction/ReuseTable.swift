/// Numbers by how often values were used and how long they were not. Fixed in size: nothing is allocated.
package struct UseTable: Sendable {
    /// Classes of frequency: used once, twice, 4 times … 128 times.
    static let levels = 8
    /// Classes of age: below a 32nd of a turnover, then two to every doubling, up to 64 turnovers.
    static let ages = 24

    private var cells = InlineArray<192, Float>(repeating: 0)

    subscript(level: Int, age: Int) -> Float {
        get { cells[level * Self.ages + age] }
        set { cells[level * Self.ages + age] = newValue }
    }

    /// Where an age is among the classes, with the fraction.
    static func position(ofAge ticks: Float, _ scale: UseScale) -> Float {
        let parts = ticks * 32 / Float(scale.population)
        return parts < 1 ? max(0, parts) : 2 * Binary.logarithm(parts) + 1
    }

    /// The age at which a class begins, in turnovers.
    static func edge(_ age: Int) -> Float {
        guard age > 0 else { return 0 }
        let doubled = Binary.power(Float((age - 1) / 2)) / 32
        return age % 2 == 1 ? doubled : doubled * 1.5
    }

    /// Adds to what a level and an age say, shared between the two classes of frequency that the level is between.
    mutating func add(_ count: Float, level: UInt8, age: Float, _ scale: UseScale) {
        let (low, share) = Self.split(level)
        let age = min(Int(Self.position(ofAge: age, scale)), Self.ages - 1)
        self[low, age] += count * (1 - share)
        if low + 1 < Self.levels { self[low + 1, age] += count * share }
    }

    static func split(_ level: UInt8) -> (low: Int, share: Float) {
        let low = Int(level >> 4)
        return low + 1 < levels ? (low, Float(level & 15) / 16) : (levels - 1, 0)
    }

    mutating func add(_ other: borrowing UseTable) {
        for index in 0..<(Self.levels * Self.ages) { cells[index] += other.cells[index] }
    }

    mutating func scale(by factor: Float) {
        for index in 0..<(Self.levels * Self.ages) { cells[index] *= factor }
    }

    mutating func clear() { cells = InlineArray<192, Float>(repeating: 0) }

    /// What a level and an age say, straight between the classes.
    func value(level: UInt8, age: Float, _ scale: UseScale) -> Float {
        let (low, share) = Self.split(level)
        let below = value(low, age: age, scale)
        return share > 0 ? below + (value(low + 1, age: age, scale) - below) * share : below
    }

    private func value(_ level: Int, age: Float, _ scale: UseScale) -> Float {
        // A class says what holds in its middle.
        let position = min(max(0, Self.position(ofAge: age, scale) - 0.5), Float(Self.ages - 1))
        let low = min(Int(position), Self.ages - 2)
        let below = self[level, low]
        return below + (self[level, low + 1] - below) * (position - Float(low))
    }
}

/// What was seen of uses: at which ages values were used again, and at which it was given up to wait for that.
package struct UseCounts: Sendable {
    package var uses = UseTable()
    package var ends = UseTable()

    /// Nothing yet.
    package init() {}

    /// Counts what a plan has found of a value.
    package mutating func note(_ found: UseRecord.Uses, _ scale: UseScale) {
        uses.add(Float(found.count), level: found.level, age: found.span, scale)
    }

    mutating func add(_ other: borrowing UseCounts) {
        uses.add(other.uses)
        ends.add(other.ends)
    }

    mutating func clear() {
        uses.clear()
        ends.clear()
    }
}

/// Learns, from what was seen, how soon values of each frequency and age are used again. Pure.
///
/// For every class of frequency, uses and ends by age give the probability that a value which has reached an age is used
/// at it (the estimator of Kaplan and Meier, 1958, so that what nobody waits for any longer is not taken for unused). From
/// those follows what keeping a value is worth: the most uses for the time it is kept, over all times for which it might
/// be (Gittins' index; the hit density of LHD, Beckmann et al., NSDI 2018, which takes one such time). With it a value
/// that was used a moment ago is the first to go in a loop that does not fit and the last in a hot set, without a rule
/// for either.
package struct ReuseTable: Sendable {
    private var counts = UseCounts()
    /// Uses for each turnover of memory that a value is kept, by frequency and age.
    package private(set) var worth = UseTable()

    /// A table that has seen nothing.
    package static let new = ReuseTable()

    private init() { solve(UseScale(population: 0)) }

    /// Adds what was seen, and lets what was seen before count less: half after eight turnovers.
    package mutating func learn(_ seen: borrowing UseCounts, turnovers: Float, _ scale: UseScale) {
        let factor = Binary.power(-turnovers / 8)
        counts.uses.scale(by: factor)
        counts.ends.scale(by: factor)
        counts.add(seen)
        solve(scale)
    }

    /// For as long as little was seen: as if the rate at which a value is used were unknown and a turnover long since,
    /// which is least recently used, and hyperbolic caching (Blankstein et al., ATC 2017) for what was used twice.
    private static func prior(_ level: Int, _ age: Int) -> Float {
        let quiet = (UseTable.edge(age) + 1) / (UseTable.edge(age + 1) + 1)
        return 1 - (level > 0 ? quiet * quiet : quiet)
    }

    private mutating func solve(_ scale: UseScale) {
        // A hundredth of the values at each age, as if seen.
        let weight = Float(scale.population) / 100
        for level in 0..<UseTable.levels {
            var chances = InlineArray<24, Float>(repeating: 0)
            var reached: Float = 0
            var age = UseTable.ages - 1
            while age >= 0 {
                let (uses, ends) = (counts.uses[level, age], counts.ends[level, age])
                reached += uses + ends
                chances[age] =
                    (uses + weight * Self.prior(level, age)) / (max(reached - ends / 2, uses) + weight)
                age -= 1
            }
            for age in 0..<UseTable.ages { worth[level, age] = Self.worth(from: age, chances) }
        }
    }

    /// The most uses for the time, from the middle of a class of ages on.
    private static func worth(from first: Int, _ chances: borrowing InlineArray<24, Float>) -> Float {
        var (left, uses, time, best): (Float, Float, Float, Float) = (1, 0, 0, 0)
        for age in first..<UseTable.ages {
            var length = UseTable.edge(age + 1) - UseTable.edge(age)
            var chance = min(chances[age], 0.999_999)
            if age == first {
                length /= 2
                chance = 1 - (1 - chance).squareRoot()
            }
            uses += left * chance
            time += left * length * (1 - chance / 2)
            left *= 1 - chance
            best = max(best, uses / time)
        }
        return best
    }
}
