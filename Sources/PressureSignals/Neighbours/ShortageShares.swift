/// How processes below one limit divide what is missing among them. Pure: of the same numbers everybody makes the same
/// division, so that it needs no word between them, and what all free together is needed once.
///
/// What stays once the shortage is over is divided by claims, as water fills vessels: nobody gets more than he holds, and what he
/// leaves is the others'. Who holds more than that gives. So the division does not change while they give: who has given his
/// part is asked for nothing more, however late the others are.
package struct ShortageShares {
    /// A process, as it counts in a division.
    package struct Member: Hashable, Sendable {
        /// Bytes of values in memory.
        package var held: Int
        /// Of them, what can be given back at once.
        package var free: Int
        /// Of them, what has to be written first.
        package var dirty: Int
        /// What part of the room it lays claim to.
        package var claim: Double
        /// Bytes that nobody asks of it, while others have more than theirs.
        package var floor: Int

        /// Creates a member.
        package init(held: Int, free: Int, dirty: Int = 0, claim: Double = 1, floor: Int = 0) {
            self.held = held
            self.free = free
            self.dirty = dirty
            self.claim = claim
            self.floor = floor
        }
    }

    /// What may go.
    package enum Kind: Hashable, Sendable {
        /// Everything, in the proportions of the claims.
        case all
        /// What goes at once, if that is enough for all, and everything otherwise: for a shortage that is to end soon.
        case soon
    }

    private let onlyFree: Bool
    /// How much of each claim is met…
    private let level: Double
    /// …and of each floor.
    private let floors: Double

    /// Divides so many bytes that are missing.
    package init(of need: Int, among members: Span<Member>, _ kind: Kind = .all) {
        var (held, free) = (0, 0)
        for index in 0..<members.count {
            held += members[index].held
            free += members[index].free
        }
        let room = Double(max(0, held - need))
        onlyFree = kind == .soon && free >= need
        let onlyFree = onlyFree
        func sum(_ level: Double, _ floors: Double) -> Double {
            var sum = 0.0
            for index in 0..<members.count { sum += Self.kept(members[index], level, floors, onlyFree) }
            return sum
        }
        if sum(0, 1) > room {
            // Not even the floors fit.
            (level, floors) = (0, Self.bisect(upTo: 1, room) { sum(0, $0) })
        } else {
            var most = 0.0
            for index in 0..<members.count {
                most = max(most, Double(members[index].held) / max(members[index].claim, .leastNormalMagnitude))
            }
            (level, floors) = (Self.bisect(upTo: most, room) { sum($0, 1) }, 1)
        }
    }

    /// What a member may keep.
    package func budget(_ member: Member) -> Int { Int(Self.kept(member, level, floors, onlyFree)) }

    /// What a member is to free, in bytes, and can. Rounded up: parts that come to less than the whole would never end a
    /// shortage.
    package func part(_ member: Member) -> Int {
        let part = (Double(member.held) - Self.kept(member, level, floors, onlyFree)).rounded(.up)
        return min(Int(max(0, part)), member.held)
    }

    private static func kept(_ member: Member, _ level: Double, _ floors: Double, _ onlyFree: Bool) -> Double {
        let evictable = min(member.held, onlyFree ? member.free : member.free + member.dirty)
        let wish = Double(min(member.floor, member.held)) * floors + level * member.claim
        return min(max(wish, Double(member.held - evictable)), Double(member.held))
    }

    /// Where a function that grows reaches a value, from below.
    private static func bisect(upTo most: Double, _ value: Double, _ function: (Double) -> Double) -> Double {
        var (low, high) = (0.0, most)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if function(middle) <= value { low = middle } else { high = middle }
        }
        return low
    }
}
