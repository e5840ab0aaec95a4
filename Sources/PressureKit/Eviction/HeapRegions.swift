/// Which parts of the heap a batch empties, so that whole pages come free.
///
/// The C library gives back whole pages, and of small values that leave here and there it gets few (``PageYield``). So where others
/// take memory this very moment, small values leave by where they lie: all that lies in the regions whose values are worth least on
/// average. For a tenth of the memory a tenth of the values leaves then and not a third, and in runs, so that the C library has less to
/// go through. (A log-structured store frees memory by segment for the same reason: Rumble, Kejriwal and Ousterhout, FAST 2014.)
///
/// In two looks: a sample of the values tells what the regions are worth, and a second look finds all that lies in those.
@safe
final class HeapRegions: @unchecked Sendable {
    // Sendable and safe: as PlanStorage, whose part it is; of `chosen` the first `count` are there.

    /// The bytes of one: fifteen values of 4 KiB, of which the first and the last share a page with what stays.
    static let bytes = 1 << 16
    /// The most that are chosen at once.
    static let most = 4096
    /// So much of the values has to say where it lies, and may leave: what stays in between would keep pages.
    private static let leastPart = 0.75
    /// A region of which the sample has few values is taken to be worth more nearly what all are.
    private static let prior = 4

    /// Region and turn of each, by region.
    private var chosen = unsafe UnsafeMutableBufferPointer<UInt64>(start: nil, count: 0)
    /// A bit for each, by the last digits of its number: most regions are told from those that are chosen by one look.
    private let bits = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 1024)
    /// How many are chosen.
    private(set) var count = 0
    /// What may leave of them: nothing of a later ``Candidate/evictionClass``.
    private(set) var lastClass: UInt8 = 0

    /// Creates room for none.
    init() { unsafe bits.initialize(repeating: 0) }

    deinit {
        unsafe chosen.deallocate()
        unsafe bits.deallocate()
    }

    /// Makes room. Allocates.
    func reserve(_ capacity: Int) {
        unsafe chosen.deallocate()
        unsafe chosen = .allocate(capacity: min(capacity, Self.most))
        unsafe chosen.initialize(repeating: 0)
        count = 0
    }

    /// The number of the region in which an address lies.
    static func number(of address: UInt) -> UInt32 { UInt32(truncatingIfNeeded: address / UInt(bytes)) }

    /// Forgets the choice.
    func clear() { count = 0 }

    /// Where a region's bit is.
    private static func bit(of region: UInt32) -> (word: Int, mask: UInt64) {
        (Int(region >> 6 & 1023), 1 << UInt64(region & 63))
    }

    /// Whether a region is chosen.
    func has(_ region: UInt32) -> Bool {
        let (word, mask) = Self.bit(of: region)
        return unsafe bits[word] & mask != 0 && turn(of: region) != nil
    }

    /// When a region's turn is to be emptied; `nil` for one that is not chosen.
    func turn(of region: UInt32) -> UInt32? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            // Below `count`.
            let entry = unsafe chosen[middle]
            let number = UInt32(truncatingIfNeeded: entry >> 32)
            if number == region { return UInt32(truncatingIfNeeded: entry) }
            if number < region { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Chooses the regions that are worth least, for so many bytes. Whether there are such; if not, too many of the values do not say
    /// where they lie, or have to stay.
    ///
    /// What an order of eviction would not have touched for that many bytes, as what can be seen, is left alone here too.
    ///
    /// - Parameters:
    ///   - candidates: a sample of what could leave.
    ///   - choices: as many; its content on entry and on return does not matter.
    ///   - parts: how many times as much there is in all.
    ///   - resident: the bytes of all values in memory.
    func choose(
        among candidates: UnsafeBufferPointer<Candidate>,
        choices: UnsafeMutableBufferPointer<Planner.Choice>,
        parts: Int,
        resident: Int,
        goal: Int,
        policy: any EvictionPolicy,
        at moment: PlanMoment
    ) -> Bool {
        count = 0
        unsafe policy.rankAll(candidates, into: choices, at: moment)
        unsafe RankSort.sort(choices)
        lastClass = unsafe Self.lastClass(choices, candidates, goal: goal / parts)
        let (placed, bytes) = unsafe place(choices, candidates)
        guard Double(bytes * parts) >= Self.leastPart * Double(resident) else { return false }
        let regions = unsafe weigh(UnsafeMutableBufferPointer(rebasing: choices[..<placed]), candidates)
        unsafe take(UnsafeMutableBufferPointer(rebasing: choices[..<regions]), goal: goal / parts)
        return count > 0
    }

    /// The class in which the goal is reached by rank alone.
    private static func lastClass(
        _ choices: UnsafeMutableBufferPointer<Planner.Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        goal: Int
    ) -> UInt8 {
        var missing = goal
        var last: UInt8 = 0
        for position in 0..<choices.count {
            // Choices name candidates, here and below.
            let candidate = unsafe candidates[Int(choices[position].index)]
            last = candidate.evictionClass
            missing -= candidate.footprint
            if missing <= 0 { break }
        }
        return last
    }

    /// Brings what may leave and says where it lies to the front, by region, with its place in the order. Returns how many, and their
    /// bytes.
    private func place(
        _ choices: UnsafeMutableBufferPointer<Planner.Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>
    ) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        for position in 0..<choices.count {
            let index = unsafe choices[position].index
            let candidate = unsafe candidates[Int(index)]
            guard candidate.region != 0, candidate.evictionClass <= lastClass else { continue }
            let rank = UInt64(candidate.region) << 32 | UInt64(UInt32(truncatingIfNeeded: position))
            unsafe choices[count] = Planner.Choice(rank: rank, index: index)
            count += 1
            bytes += candidate.footprint
        }
        unsafe RankSort.sort(UnsafeMutableBufferPointer(rebasing: choices[..<count]))
        return (count, bytes)
    }

    /// Puts a choice for each region to the front: its mean place in the order, its number, and as an index its bytes. Returns how
    /// many.
    private func weigh(
        _ choices: UnsafeMutableBufferPointer<Planner.Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>
    ) -> Int {
        let middle = choices.count / 2
        var regions = 0
        var next = 0
        while next < choices.count {
            let region = unsafe choices[next].rank >> 32
            var (values, places, bytes) = (0, 0, 0)
            while next < choices.count {
                let choice = unsafe choices[next]
                guard choice.rank >> 32 == region else { break }
                values += 1
                places += Int(UInt32(truncatingIfNeeded: choice.rank))
                unsafe bytes += candidates[Int(choice.index)].footprint
                next += 1
            }
            let mean = (places + Self.prior * middle) / (values + Self.prior)
            // No more regions than values so far.
            unsafe choices[regions] = Planner.Choice(rank: UInt64(mean) << 32 | region, index: UInt32(clamping: bytes))
            regions += 1
        }
        return regions
    }

    /// Takes the regions that are worth least until they have so many bytes.
    private func take(_ regions: UnsafeMutableBufferPointer<Planner.Choice>, goal: Int) {
        unsafe RankSort.sort(regions)
        var missing = goal
        var turns = 0
        let most = unsafe min(regions.count, chosen.count)
        while turns < most, missing > 0 {
            let region = unsafe regions[turns]
            missing -= Int(region.index)
            unsafe regions[turns].rank = region.rank << 32 | UInt64(turns)
            turns += 1
        }
        let taken = unsafe UnsafeMutableBufferPointer(rebasing: regions[..<turns])
        unsafe RankSort.sort(taken)
        unsafe bits.update(repeating: 0)
        for index in 0..<turns {
            let rank = unsafe taken[index].rank
            let (word, mask) = Self.bit(of: UInt32(truncatingIfNeeded: rank >> 32))
            unsafe chosen[index] = rank
            unsafe bits[word] |= mask
        }
        count = turns
    }
}

/// Region by region: a plan that keeps to some empties one after the other.
struct RegionOrder: EvictionPolicy {
    var name: String { "region" }

    func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 { UInt64(candidate.region) }
}

/// A value most of whose memory is one block of the heap, and one of whose words says where that is.
protocol OneBlock {
    /// Which of its words.
    static var blockWord: Int { get }
}

// The reference to what holds the elements is all there is in an array.
extension Array: OneBlock { static var blockWord: Int { 0 } }
// Behind the count: the reference, with some flags above it.
extension String: OneBlock { static var blockWord: Int { 1 } }
