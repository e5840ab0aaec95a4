import Testing

@testable import pressuresim

/// The search for the LRU's bound, against every shape it may meet.
@Suite struct BoundSearchTests {
    /// How fast an LRU is with a bound, and from which bound on it is killed.
    private struct Machine {
        var peak: Int
        var killed: Int

        func speed(_ bound: Int) -> Double? {
            guard bound < killed else { return nil }
            return 1000 - Double(bound <= peak ? peak - bound : 3 * (bound - peak))
        }

        /// The fastest bound that survives.
        var best: Int { min(peak, killed - 1) }
    }

    /// Searches to the end.
    private static func search(tolerance: Int, _ speed: (Int) -> Double?) -> BoundSearch {
        var search = BoundSearch(tolerance: tolerance)
        for _ in 0..<100 {
            guard let bound = search.next else { return search }
            search.note(bound, speed: speed(bound))
        }
        Issue.record("no end after \(search.probes)")
        return search
    }

    @Test(arguments: [1, 2, 3, 6, 10])
    func thePeakIsFoundWhereverItIsAndWheneverTheKernelKills(tolerance: Int) throws {
        for killed in BoundSearch.floor + 1...120 {
            for peak in stride(from: 0, through: 120, by: 3) {
                let machine = Machine(peak: peak, killed: killed)
                let search = Self.search(tolerance: tolerance, machine.speed)
                let best = try #require(search.best, "\(machine)")
                #expect(machine.speed(best) != nil, "\(machine): killed with the bound that was found")
                // Smaller bounds than the range's are tried only when the range's are too large, and larger ones never.
                let wanted = min(machine.best, 97)
                if killed > 60, peak < 60 {
                    #expect(best == 60, "\(machine) \(search.probes)")
                } else if killed > 60 || peak >= 60 {
                    #expect(wanted - best <= 3 * tolerance, "\(machine) \(search.probes)")
                    #expect(best - wanted <= 3 * tolerance, "\(machine) \(search.probes)")
                }
                // Where speed rises up to the kernel's kill, the edge is found.
                if peak >= killed, killed <= 97 {
                    #expect(killed - 1 - best < tolerance + 1, "\(machine) \(search.probes)")
                }
                let counts = Dictionary(grouping: search.probes, by: \.bound).mapValues(\.count)
                #expect(counts == counts.mapValues { _ in 1 }.merging([best: 2]) { $1 }, "\(machine): \(search.probes)")
                #expect(search.probes.count <= 15, "\(machine) \(search.probes)")
            }
        }
    }

    @Test func whereAllAreAlikeTheSmallestIsTaken() {
        let search = Self.search(tolerance: 3) { _ in 100 }
        #expect(search.best == 60)
    }

    @Test func whoIsKilledWithEveryBoundHasNone() {
        let search = Self.search(tolerance: 3) { _ in nil }
        #expect(search.best == nil)
        #expect(search.probes.map(\.bound) == [60, 30, 15, 7, 3, 2])
    }

    @Test func itBeginsWithWhatSurvivesAndThenAsksForTheMost() {
        var search = BoundSearch(tolerance: 3)
        #expect(search.next == 60)
        search.note(60, speed: 1)
        #expect(search.next == 97)
        search.note(97, speed: nil)
        #expect(search.next == 78)
        search.note(78, speed: 2)
        #expect(search.next == 87)
    }

    /// Somebody else was busy, or was not, while one of them was measured.
    @Test func whoWasLuckyOnceIsMeasuredAgain() {
        var search = BoundSearch(tolerance: 10)
        var looks: [Int: Int] = [:]
        while let bound = search.next {
            looks[bound, default: 0] += 1
            let isLucky = bound == 78 && looks[bound] == 1
            search.note(bound, speed: bound > 90 ? nil : Double(bound) * (isLucky ? 1.15 : 1))
        }
        #expect(looks[78] == 2)
        #expect(looks[87] == 2)
        #expect(search.best == 87)
    }

    /// A bound that survived a short look and not a long one is too large, and so are all above it.
    @Test(arguments: [1, 3, 6]) func whatIsKilledLaterIsTakenBack(tolerance: Int) throws {
        let machine = Machine(peak: 97, killed: 120)
        var search = Self.search(tolerance: tolerance, machine.speed)
        var limit = 120
        for _ in 0..<10 {
            let best = try #require(search.best)
            #expect(best < limit)
            limit = best
            search.note(best, speed: nil)
            while let bound = search.next {
                #expect(bound < limit)
                search.note(bound, speed: machine.speed(bound))
            }
        }
    }
}
