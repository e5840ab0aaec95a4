import PressureSystem

/// What of the values in memory can be given back at once, as plans have found them. Pure.
///
/// What needs no copy can; of what has to be written, as much as the disk takes in a second. What is pinned, vetoed or has
/// nowhere to go cannot. Before the first plan all of it is taken to be free to go: a plan is made before memory is short.
struct Reclaimability: Hashable, Sendable {
    /// The parts of what is in memory, 0 … 1.
    private var free = 1.0
    private var dirty = 0.0
    /// Of what is dirty, what no loader can make again.
    private var bound = 0.0
    private var isKnown = false
    /// Bytes a second.
    private(set) var writeRate = 64e6

    /// A plan has seen so many bytes of each kind, and so many among the dirty ones that cannot be dropped in need.
    mutating func note(free: Int, dirty: Int, kept: Int, bound: Int) {
        let all = Double(free + dirty + kept)
        guard all > 0 else { return }
        // A batch sees a part of the values only.
        let weight = isKnown ? 0.5 : 1
        self.free += (Double(free) / all - self.free) * weight
        self.dirty += (Double(dirty) / all - self.dirty) * weight
        self.bound += (Double(bound) / all - self.bound) * weight
        isKnown = true
    }

    /// Whether what leaves in need is likely to be written first, as far as is known.
    var needsWriting: Bool { !isKnown || bound > Self.mostBound }

    /// A plan finds as much to free that is not among these.
    private static let mostBound = 0.5

    /// So many bytes of values were written and released in a time.
    mutating func noteWriting(_ bytes: Int, in time: Duration) {
        guard bytes >= 1 << 20, time > .zero else { return }
        writeRate += (Double(bytes) / Double(time.nanoseconds) * 1e9 - writeRate) / 4
    }

    /// Of so many bytes in memory, those that can be given back at once.
    func bytes(of resident: Int) -> Int {
        let all = Double(max(0, resident))
        return Int(all * free + min(all * dirty, writeRate))
    }

    /// Of so many bytes in memory, those that can be given back, but not at once.
    func slowBytes(of resident: Int) -> Int { Int(max(0, Double(max(0, resident)) * dirty - writeRate)) }
}
