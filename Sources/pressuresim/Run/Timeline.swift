import PressureKit

/// How memory went while a scenario was played: the curve behind the page, the CSV and the live line.
struct Timeline: Codable, Sendable {
    /// What was there at one moment.
    struct Point: Codable, Sendable, Equatable {
        /// Since the timeline began.
        var at: Duration
        /// The step that was played then; counts from 1.
        var step: Int
        var level: PressureLevel
        /// Bytes of values in memory.
        var resident: ByteCount
        /// Of those, bytes with a valid copy, which a reclaim frees without writing.
        var clean: ByteCount
        /// Of those in memory, bytes with a checked copy.
        var copied = ByteCount.zero
        /// Of those in memory, bytes without one that a loader makes again.
        var reloadable = ByteCount.zero
        /// Bytes that the compressed tier takes in memory.
        var compressed: ByteCount
        /// Plain bytes of values that are only in the spill file, or in a saved state.
        var spilled: ByteCount
        /// What all copies take there.
        var stored: ByteCount
        /// What copies take in the state that a process before this one saved.
        var inState = ByteCount.zero
        /// VmRSS of the process; `nil` in virtual time, where it would say nothing.
        var rss: ByteCount?
        /// Accesses so far, of which so many missed memory.
        var accesses: Int
        var misses: Int
        /// What the other processes of the scenario hold in values; `nil` for one that has ended.
        var neighbours: [ByteCount?] = []
    }

    /// Something that happened at one moment and is marked on the curve.
    struct Mark: Codable, Sendable, Equatable {
        enum Kind: String, Codable, Sendable, CaseIterable { case warning, background, foreground, reclaim, relaunch }

        var at: Duration
        var kind: Kind
        /// A few words, for people.
        var text: String
    }

    /// By time.
    var points: [Point] = []
    /// By time.
    var marks: [Mark] = []
}

extension Timeline {
    /// Adds what a later process recorded, whose time and whose steps began anew.
    mutating func append(_ later: Timeline, after duration: Duration, steps: Int) {
        points += later.points.map { point in
            var point = point
            point.at += duration
            point.step += steps
            return point
        }
        marks += later.marks.map { mark in
            var mark = mark
            mark.at += duration
            return mark
        }
    }
}
