/// Finds the right spelling that a wrong one was probably meant to be.
package enum Spelling {
    /// The candidate nearest to `word`, when it is near enough to be worth suggesting: at most one slip (letter added,
    /// left out, exchanged or swapped with its neighbour) for every three letters, and case does not count. Of two that
    /// are equally near, the one with the same first letter.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let wanted = Array(word.lowercased())
        let limit = max(1, wanted.count / 3)
        var best: (candidate: String, rank: Int)?
        for candidate in candidates {
            let letters = Array(candidate.lowercased())
            let distance = distance(wanted, letters)
            let rank = 2 * distance + (letters.first == wanted.first ? 0 : 1)
            if distance <= limit, rank < best?.rank ?? .max { best = (candidate, rank) }
        }
        return best?.candidate
    }

    /// The optimal string alignment distance: Levenshtein's with swaps of neighbours.
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in 1...left.count {
            var row = [i] + Array(repeating: 0, count: right.count)
            for j in 1...right.count {
                let exchange = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
                row[j] = min(last[j] + 1, row[j - 1] + 1, exchange)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[right.count]
    }
}
