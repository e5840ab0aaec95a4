/// Where marks stand in a row above a chart so that each can have its own word: as near to their moments as there is room.
///
/// What has no room beside the others is moved, never left out; a line leads from it to its moment. Marks of one word that
/// are too many for the row become one, with their number.
package struct MarkLayout: Hashable, Sendable {
    /// Something that happened at one moment, with its word.
    package struct Moment: Hashable, Sendable {
        /// When, as a part of the width.
        package var position: Double
        package var word: String

        package init(position: Double, word: String) { (self.position, self.word) = (position, word) }
    }

    /// A moment, or several of one word, and where it is drawn.
    struct Place: Hashable, Sendable {
        /// The first moment's.
        var position: Double
        var word: String
        var count = 1
        /// Where its glyph and its word stand, as a part of the width.
        var shown = 0.0

        var text: String { count == 1 ? word : "\(word) ×\(Quantities.count(count))" }
    }

    let places: [Place]
    /// Whether the words lie side by side; otherwise they are slanted, each ending at its glyph.
    let isLevel: Bool

    /// A slanted word takes so much of the row, in pixels: its line's height, over the sine of 45 degrees.
    private static let slantedPitch = 17.0
    /// What is moved further than this, in pixels, is hard to follow.
    private static let reach = 56.0
    private static let gap = 8.0

    /// - Parameters:
    ///   - moments: from left to right.
    ///   - width: of the chart, in pixels.
    init(_ moments: [Moment], width: Double) {
        var places = Self.grouped(moments, limit: max(Int(width / Self.slantedPitch), 1))
        let widths = places.map { Double($0.text.count) * LabelFit.characterWidth + Self.gap }
        if let level = Self.spread(places.map { $0.position * width }, widths, width),
            zip(level, places).allSatisfy({ abs($0 - $1.position * width) <= Self.reach })
        {
            for index in places.indices { places[index].shown = level[index] / width }
            isLevel = true
        } else {
            let pitches = places.map { _ in Self.slantedPitch }
            let slanted = Self.spread(places.map { $0.position * width }, pitches, width) ?? []
            for (index, place) in slanted.enumerated() { places[index].shown = place / width }
            isLevel = false
        }
        self.places = places
    }

    /// The longest word's length in pixels, at most.
    var longest: Double { Double(places.map(\.text.count).max() ?? 0) * LabelFit.characterWidth }

    /// One place for each, or for several of one word that are near each other, as near as it takes to have `limit` at most.
    private static func grouped(_ moments: [Moment], limit: Int) -> [Place] {
        var distance = 0.004
        while true {
            var places: [Place] = []
            var last: [String: Int] = [:]
            for moment in moments {
                if let index = last[moment.word], moment.position - places[index].position < distance {
                    places[index].count += 1
                } else {
                    last[moment.word] = places.count
                    places.append(Place(position: moment.position, word: moment.word))
                }
            }
            if places.count <= limit || distance > 1 { return places }
            distance *= 2
        }
    }

    /// The places nearest to the wanted ones, by their squares, at which things so wide do not touch: isotonic regression
    /// by pooling adjacent violators. `nil` if they are wider than all there is.
    static func spread(_ wanted: [Double], _ widths: [Double], _ width: Double) -> [Double]? {
        guard let first = widths.first, let last = widths.last else { return [] }
        // With what lies between each and the first taken away, no place may be left of the one before.
        var offsets = [0.0]
        for index in widths.indices.dropFirst() {
            offsets.append(offsets[index - 1] + (widths[index - 1] + widths[index]) / 2)
        }
        let bounds = (first / 2, width - last / 2 - offsets[offsets.count - 1])
        guard bounds.0 <= bounds.1 else { return nil }
        var pools: [(sum: Double, count: Int)] = []
        for (place, offset) in zip(wanted, offsets) {
            pools.append((place - offset, 1))
            while pools.count > 1, let right = pools.last {
                let left = pools[pools.count - 2]
                guard left.sum / Double(left.count) > right.sum / Double(right.count) else { break }
                pools.removeLast()
                pools[pools.count - 1] = (left.sum + right.sum, left.count + right.count)
            }
        }
        let places = pools.flatMap { pool in
            Array(repeating: min(max(pool.sum / Double(pool.count), bounds.0), bounds.1), count: pool.count)
        }
        return zip(places, offsets).map { $0 + $1 }
    }
}
