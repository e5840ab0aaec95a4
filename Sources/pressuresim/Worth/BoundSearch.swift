/// Looks for the bound with which an LRU is fastest, among those with which it is not killed.
///
/// What is measured in a moment is not exact, and the fastest of several is likely to have been lucky: it is measured a
/// second time, and the mean counts.
///
/// Pure: it says what to try next and is told what came of it. Speed is taken to rise with the bound up to a point and to
/// fall behind it, and whoever is killed with a bound is killed with any larger one. So the peak is between the neighbours
/// of the best that is known, and halving the gaps beside it finds it.
struct BoundSearch: Hashable, Sendable {
    /// A bound that was tried, in hundredths of the limit, and how fast it was; `nil` if the process was killed.
    struct Probe: Hashable, Sendable, Codable {
        var bound: Int
        var speed: Double?
    }

    private let range: ClosedRange<Int>
    private let tolerance: Int
    /// What was tried, in this order.
    private(set) var probes: [Probe] = []

    /// Below this there is no cache worth the name.
    static let floor = 2
    /// Towards smaller bounds the search is this much coarser while nothing has been seen to fall: there it would find
    /// a peak that is barely higher.
    private static let coarse = 3

    /// - Parameters:
    ///   - range: the bounds to try first; smaller ones are tried when even the smallest of these is too large.
    ///   - tolerance: how close to the best is close enough.
    init(in range: ClosedRange<Int> = 60...97, tolerance: Int) {
        precondition(range.lowerBound >= Self.floor && tolerance >= 1, "no bounds to search")
        self.range = range
        self.tolerance = tolerance
    }

    /// The fastest that survived; of equals the smallest. `nil` when none has.
    var best: Int? {
        var best: Probe?
        for probe in survivors where best.map({ (probe.speed ?? 0) > ($0.speed ?? 0) }) ?? true { best = probe }
        return best?.bound
    }

    /// Those that are not known to be too large, from the smallest up, each with its mean.
    private var survivors: [Probe] {
        var speeds: [Int: [Double]] = [:]
        for probe in probes { if let speed = probe.speed { speeds[probe.bound, default: []].append(speed) } }
        let edge = smallestKilled ?? .max
        return speeds.filter { $0.key < edge }
            .map { Probe(bound: $0.key, speed: $0.value.reduce(0, +) / Double($0.value.count)) }
            .sorted { $0.bound < $1.bound }
    }

    private var smallestKilled: Int? { probes.filter { $0.speed == nil }.map(\.bound).min() }

    /// The bound to try now; `nil` when the search is over.
    var next: Int? {
        let tried = Set(probes.map(\.bound))
        guard tried.contains(range.lowerBound) else { return range.lowerBound }
        guard let best else {
            let smallest = tried.min() ?? range.lowerBound
            return smallest > Self.floor ? max(smallest / 2, Self.floor) : nil
        }
        // Below a bound that is too large for the range, what lies above it was not to be tried.
        if smallestKilled == nil, !tried.contains(range.upperBound) { return range.upperBound }
        let above = tried.filter { $0 > best }.min()
        if let above, above - best > tolerance { return (best + above) / 2 }
        let falls = above.map { above in survivors.contains { $0.bound == above } } ?? false
        if let below = tried.filter({ $0 < best }).max(),
            best - below > (falls ? tolerance : tolerance * Self.coarse)
        {
            return (below + best) / 2
        }
        return probes.count { $0.bound == best } < 2 ? best : nil
    }

    /// Takes down what came of a bound; also of one that had survived, and then was killed in a longer run.
    mutating func note(_ bound: Int, speed: Double?) { probes.append(Probe(bound: bound, speed: speed)) }
}
