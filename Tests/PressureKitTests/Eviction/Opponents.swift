import PressureKit

/// What is read: keys in turn, their sizes, and what bringing one in costs its reader.
struct Contest {
    var name: String
    var keys: [Int]
    var bytes: [Int]
    var costs: [Double]
    var limit: Int
}

/// An order of eviction that is only compared with: a cache of `limit` bytes, kept exactly.
protocol Opponent {
    init(_ contest: Contest)
    /// Whether the key was there; it is afterwards, if the order wants it.
    mutating func read(_ key: Int) -> Bool
}

/// Keys in a row, linked through arrays.
struct KeyRow {
    private(set) var first = -1
    private(set) var last = -1
    private(set) var bytes = 0
    private var before: [Int]
    private var after: [Int]

    init(_ count: Int) {
        before = Array(repeating: -1, count: count)
        after = before
    }

    var isEmpty: Bool { first < 0 }
    func next(_ key: Int) -> Int { after[key] }
    func previous(_ key: Int) -> Int { before[key] }

    mutating func prepend(_ key: Int, _ size: Int) {
        (before[key], after[key]) = (-1, first)
        if first >= 0 { before[first] = key } else { last = key }
        first = key
        bytes += size
    }

    mutating func remove(_ key: Int, _ size: Int) {
        if before[key] >= 0 { after[before[key]] = after[key] } else { first = after[key] }
        if after[key] >= 0 { before[after[key]] = before[key] } else { last = before[key] }
        bytes -= size
    }
}

struct LRUCache: Opponent {
    private let contest: Contest
    private var row: KeyRow
    private var isIn: [Bool]

    init(_ contest: Contest) {
        self.contest = contest
        row = KeyRow(contest.bytes.count)
        isIn = Array(repeating: false, count: contest.bytes.count)
    }

    mutating func read(_ key: Int) -> Bool {
        let size = contest.bytes[key]
        if isIn[key] {
            row.remove(key, size)
            row.prepend(key, size)
            return true
        }
        while !row.isEmpty, row.bytes + size > contest.limit {
            let victim = row.last
            row.remove(victim, contest.bytes[victim])
            isIn[victim] = false
        }
        row.prepend(key, size)
        isIn[key] = true
        return false
    }
}

/// Zhang et al., NSDI 2024.
struct SieveCache: Opponent {
    private let contest: Contest
    private var row: KeyRow
    private var isIn: [Bool]
    private var isVisited: [Bool]
    private var hand = -1

    init(_ contest: Contest) {
        self.contest = contest
        row = KeyRow(contest.bytes.count)
        isIn = Array(repeating: false, count: contest.bytes.count)
        isVisited = isIn
    }

    mutating func read(_ key: Int) -> Bool {
        if isIn[key] {
            isVisited[key] = true
            return true
        }
        while !row.isEmpty, row.bytes + contest.bytes[key] > contest.limit {
            var victim = hand >= 0 ? hand : row.last
            while isVisited[victim] {
                isVisited[victim] = false
                victim = row.previous(victim) >= 0 ? row.previous(victim) : row.last
            }
            hand = row.previous(victim)
            row.remove(victim, contest.bytes[victim])
            isIn[victim] = false
        }
        row.prepend(key, contest.bytes[key])
        (isIn[key], isVisited[key]) = (true, false)
        return false
    }
}

/// Yang et al., SOSP 2023: a tenth for what is new, the rest for what was used again, and the keys of what was not.
struct S3FIFOCache: Opponent {
    private enum Place { case out, small, main, ghost }
    private let contest: Contest
    private var (small, main, ghosts): (KeyRow, KeyRow, KeyRow)
    private var place: [Place]
    private var uses: [Int]

    init(_ contest: Contest) {
        self.contest = contest
        let row = KeyRow(contest.bytes.count)
        (small, main, ghosts) = (row, row, row)
        place = Array(repeating: .out, count: contest.bytes.count)
        uses = Array(repeating: 0, count: contest.bytes.count)
    }

    mutating func read(_ key: Int) -> Bool {
        let size = contest.bytes[key]
        if place[key] == .small || place[key] == .main {
            uses[key] = min(3, uses[key] + 1)
            return true
        }
        while small.bytes + main.bytes > 0, small.bytes + main.bytes + size > contest.limit { evict() }
        uses[key] = 0
        if place[key] == .ghost {
            ghosts.remove(key, size)
            main.prepend(key, size)
            place[key] = .main
        } else {
            small.prepend(key, size)
            place[key] = .small
        }
        return false
    }

    private mutating func evict() {
        if small.bytes > contest.limit / 10 || main.isEmpty {
            while !small.isEmpty {
                let key = small.last
                small.remove(key, contest.bytes[key])
                guard uses[key] >= 2 else { return forget(key) }
                uses[key] = 0
                main.prepend(key, contest.bytes[key])
                place[key] = .main
            }
        }
        while !main.isEmpty {
            let key = main.last
            main.remove(key, contest.bytes[key])
            guard uses[key] > 0 else {
                place[key] = .out
                return
            }
            uses[key] -= 1
            main.prepend(key, contest.bytes[key])
        }
    }

    private mutating func forget(_ key: Int) {
        ghosts.prepend(key, contest.bytes[key])
        place[key] = .ghost
        while ghosts.bytes > contest.limit * 9 / 10, ghosts.first != ghosts.last {
            let oldest = ghosts.last
            ghosts.remove(oldest, contest.bytes[oldest])
            place[oldest] = .out
        }
    }
}

/// Einziger et al., ACM TOS 2017: a hundredth for what is new, which enters the rest if it was wanted more often than
/// what would go for it. Frequencies are exact here where the paper has a sketch, and halved as there.
struct TinyLFUCache: Opponent {
    private enum Place { case out, window, probation, protected }
    private let contest: Contest
    private var (window, probation, protected): (KeyRow, KeyRow, KeyRow)
    private var place: [Place]
    private var uses: [Int]
    private var count = 0
    private let period: Int

    init(_ contest: Contest) {
        self.contest = contest
        let row = KeyRow(contest.bytes.count)
        (window, probation, protected) = (row, row, row)
        place = Array(repeating: .out, count: contest.bytes.count)
        uses = Array(repeating: 0, count: contest.bytes.count)
        period = 10 * max(64, contest.limit * contest.bytes.count / max(1, contest.bytes.reduce(0, +)))
    }

    mutating func read(_ key: Int) -> Bool {
        if uses[key] < 15 {
            uses[key] += 1
            count += 1
        }
        if count >= period {
            for index in uses.indices { uses[index] /= 2 }
            count /= 2
        }
        let size = contest.bytes[key]
        switch place[key] {
        case .window:
            window.remove(key, size)
            window.prepend(key, size)
        case .protected:
            protected.remove(key, size)
            protected.prepend(key, size)
        case .probation:
            probation.remove(key, size)
            protected.prepend(key, size)
            place[key] = .protected
            while protected.bytes > contest.limit * 4 / 5, protected.first != protected.last {
                let last = protected.last
                protected.remove(last, contest.bytes[last])
                probation.prepend(last, contest.bytes[last])
                place[last] = .probation
            }
        case .out:
            window.prepend(key, size)
            place[key] = .window
            makeRoom()
            return false
        }
        return true
    }

    private mutating func makeRoom() {
        while window.bytes > contest.limit / 100, !window.isEmpty {
            let candidate = window.last
            window.remove(candidate, contest.bytes[candidate])
            place[candidate] = .out
            let size = contest.bytes[candidate]
            var isWanted = size <= contest.limit
            while isWanted, window.bytes + probation.bytes + protected.bytes + size > contest.limit {
                let victim = probation.isEmpty ? protected.last : probation.last
                isWanted = victim >= 0 && uses[candidate] > uses[victim]
                guard isWanted else { break }
                if place[victim] == .probation {
                    probation.remove(victim, contest.bytes[victim])
                } else {
                    protected.remove(victim, contest.bytes[victim])
                }
                place[victim] = .out
            }
            guard isWanted else { continue }
            probation.prepend(candidate, size)
            place[candidate] = .probation
        }
    }
}

/// The lowest of a number that each key has goes first: GreedyDual-Size with frequency (Cherkasova, 1998), largest first.
struct RankedCache: Opponent {
    private let contest: Contest
    private var isIn: [Bool]
    private var present: [Int] = []
    private var uses: [Double]
    private var ranks: [Double]
    private var offset = 0.0
    private var used = 0
    private let isLargestFirst: Bool

    init(_ contest: Contest) { self.init(contest, isLargestFirst: false) }

    init(_ contest: Contest, isLargestFirst: Bool) {
        self.contest = contest
        self.isLargestFirst = isLargestFirst
        isIn = Array(repeating: false, count: contest.bytes.count)
        uses = Array(repeating: 0, count: contest.bytes.count)
        ranks = uses
    }

    mutating func read(_ key: Int) -> Bool {
        let isThere = isIn[key]
        uses[key] = isThere ? uses[key] + 1 : 1
        while !isThere, !present.isEmpty, used + contest.bytes[key] > contest.limit { evict() }
        // Of equals the newest goes first, as from a stack.
        ranks[key] =
            isLargestFirst
            ? -Double(contest.bytes[key]) : offset + uses[key] * contest.costs[key] / Double(contest.bytes[key])
        guard !isThere else { return true }
        isIn[key] = true
        present.append(key)
        used += contest.bytes[key]
        return false
    }

    private mutating func evict() {
        var lowest = 0
        for index in present.indices
        where ranks[present[index]] < ranks[present[lowest]]
            || isLargestFirst && ranks[present[index]] == ranks[present[lowest]]
        { lowest = index }
        let victim = present.remove(at: lowest)
        isIn[victim] = false
        used -= contest.bytes[victim]
        if !isLargestFirst { offset = ranks[victim] }
    }
}
