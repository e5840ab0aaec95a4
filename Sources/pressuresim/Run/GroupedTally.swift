import ScenarioLanguage

/// Accesses, apart for caches of which different expectations speak.
struct GroupedTally: Sendable {
    /// By the expectations that speak of the caches: 0 for those of which none does, and for most runs the only one.
    private var groups: [UInt64: AccessTally] = [:]
    private let live: LiveCounts?

    /// - Parameter live: where accesses are counted as they happen; `nil` for nowhere.
    init(live: LiveCounts? = nil) { self.live = live }

    /// All of them.
    var all: AccessTally { sum { _ in true } }

    /// What each part of the caches had.
    func parts(_ watched: WatchedCaches) -> [Expectation.Part: AccessTally] {
        let pairs = watched.globs.enumerated().map { index, glob in
            (Expectation.Part.caches(glob), sum { $0 & 1 << index != 0 })
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Has `body` count an access to a cache of a group.
    mutating func access(_ group: UInt64, _ body: (inout AccessTally) -> Void) {
        body(&groups[group, default: AccessTally(live: live)])
    }

    /// Adds what another thread saw.
    mutating func add(_ other: GroupedTally) {
        for (group, tally) in other.groups { groups[group, default: AccessTally()].add(tally) }
    }

    private func sum(_ isMeant: (UInt64) -> Bool) -> AccessTally {
        groups.reduce(into: AccessTally()) { if isMeant($1.key) { $0.add($1.value) } }
    }
}

/// The caches of which anything is expected.
struct WatchedCaches: Sendable {
    /// The patterns, each once.
    let globs: [PathGlob]

    init(_ expectations: [Expectation]) {
        var globs: [PathGlob] = []
        for case .caches(let glob) in expectations.map(\.part) where !globs.contains(glob) { globs.append(glob) }
        // A group has a bit for each; the scenario was refused if there were more.
        self.globs = Array(globs.prefix(Expectation.mostPatterns))
    }

    /// A bit for each pattern that one of these caches matches.
    func groups(of caches: [any SimulatedCache]) -> [UInt64] {
        guard !globs.isEmpty else { return [UInt64](repeating: 0, count: caches.count) }
        return caches.map { cache in
            globs.enumerated().reduce(into: 0) { group, glob in
                let path = glob.element.hasKey ? cache.path : String(cache.address)
                if glob.element.matches(path) { group |= 1 << glob.offset }
            }
        }
    }
}
