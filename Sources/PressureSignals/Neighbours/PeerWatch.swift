import Glibc
package import PressureSystem

/// What this process knows of the others on a board, from one look to the next: what they have brought and given back since it
/// knows them, how their readers fare, and who does not give what is asked of him. Pure, of a fixed size; allocates nothing.
///
/// Every number is another process's word. What is out of bounds is as if its process were not there.
package struct PeerWatch: Sendable {
    private struct Peer: Sendable {
        var owner: UInt64 = 0
        var slot = ShortageShares.Member(held: 0, free: 0)
        var weight = 1.0
        var heap = 0
        var underWay = 0
        var books = MemoryBooks.Reading()
        var awaited = 0
        /// Nanoseconds a second that its readers wait, on average over ``smoothing``.
        var waiting = 0.0
        /// Since when it owes something and has given nothing.
        var owesSince: MonotonicInstant?
        var isStuck = false
    }

    /// Over how many seconds waiting is averaged.
    static let smoothing = 2.0
    /// Nanoseconds a second, of all readers together, from which on claims go by them: a thousandth of one reader's time.
    static let leastWaiting = 1e6
    /// For how long others count on what somebody owes who gives nothing.
    package static let patience = Duration.milliseconds(30)
    /// No number of bytes is as large.
    private static let mostBytes = 1 << 50

    private var peers = InlineArray<63, Peer>(repeating: Peer())
    private var used = 0
    private var lastLook: MonotonicInstant?
    private var lastAverage: MonotonicInstant?
    /// What others have brought and given back while they were known.
    package private(set) var books = MemoryBooks.Reading()
    /// How many others there are.
    package private(set) var count = 0

    /// Knows nobody.
    package init() {}

    // MARK: Looking

    /// How many slots are worth a look between samples: those of whom this process knows, its own, and the next two.
    func reach(own: Int) -> Int { min(BoardLayout.slots, max(used, own + 1) + 2) }

    /// Looks at a board anew.
    ///
    /// - Parameters:
    ///   - own: The place of this process's slot.
    ///   - slots: At how many places to look, ``reach(own:)`` at least.
    ///   - limit: What all share, in bytes.
    ///   - slot: What stands at a place; `nil` for nothing that counts.
    ///   - isHeld: Whether somebody is there. Asked of whom this process does not know yet: what the killed have left stands
    ///     there for long.
    ///   - verifies: Whether it is asked of all: it matters where little is left.
    package mutating func look(
        own: Int,
        slots: Int = BoardLayout.slots,
        limit: Int,
        at now: MonotonicInstant,
        verifies: Bool = false,
        isHeld: (Int) -> Bool = { _ in true },
        slot: (Int) -> BoardSlot?
    ) {
        count = 0
        // One that is half written is looked at again.
        var end = slots == BoardLayout.slots ? 0 : used
        let seconds = lastAverage.map { Double((now - $0).nanoseconds) / 1e9 } ?? 0
        let isDue = lastAverage == nil || seconds >= 0.1
        if isDue { lastAverage = now }
        for place in 0..<slots where place != own {
            guard let slot = slot(place), Self.isSound(slot, limit: limit, at: now),
                !verifies && peers[place].owner == slot.owner || isHeld(place)
            else {
                peers[place].owner = 0
                continue
            }
            count += 1
            end = max(end, place + 1)
            take(slot, at: place, limit: limit, over: isDue ? seconds : 0)
        }
        used = end
        lastLook = now
    }

    /// Whether numbers are such as a process below this limit could have.
    private static func isSound(_ slot: BoardSlot, limit: Int, at now: MonotonicInstant) -> Bool {
        slot.held <= limit && slot.underWay <= limit && slot.free <= slot.held && slot.dirty <= slot.held
            && slot.heap <= limit && slot.floor <= limit
            && slot.books.brought < .max / 2 && slot.books.returned < .max / 2 && slot.resident <= mostBytes
            && MemoryClaim.bounds.contains(slot.claim) && slot.weight > 0 && slot.weight <= 1000
            && slot.at <= now + .seconds(1)
    }

    private mutating func take(_ slot: BoardSlot, at place: Int, limit: Int, over seconds: Double) {
        var peer = peers[place]
        let isKnown = peer.owner == slot.owner
        if !isKnown { peer = Peer(owner: slot.owner, books: slot.books, awaited: slot.awaited) }
        peer.slot = ShortageShares.Member(
            held: slot.held + slot.underWay,
            free: slot.free,
            dirty: min(slot.dirty, slot.held - slot.free),
            claim: slot.claim,
            floor: slot.floor
        )
        peer.weight = slot.weight
        peer.heap = slot.heap
        peer.underWay = slot.underWay
        let brought = slot.books.brought - peer.books.brought
        let returned = slot.books.returned - peer.books.returned
        // What went back, or changed by more than fits, is nobody's books.
        if isKnown, brought >= 0, returned >= 0, abs(brought - returned) <= limit {
            books.brought &+= brought
            books.returned &+= returned
        }
        if returned > 0 { (peer.owesSince, peer.isStuck) = (nil, false) }
        peer.books = slot.books
        if seconds > 0 {
            let waited = Double(max(0, slot.awaited - peer.awaited)) / seconds
            // No more than a thousand readers wait at a time.
            peer.waiting += (min(waited, 1e12) - peer.waiting) * (1 - exp(-seconds / Self.smoothing))
            peer.awaited = slot.awaited
        }
        peers[place] = peer
    }

    // MARK: What follows

    /// What others hold, what of it they could give back at once, what is free in their heaps and what they are bringing in
    /// beside it.
    package typealias Others = (held: Int, free: Int, heap: Int, underWay: Int)

    /// Of all of them together.
    package var others: Others {
        var sum = (held: 0, free: 0, heap: 0, underWay: 0)
        for place in 0..<used where peers[place].owner != 0 {
            sum.held += peers[place].slot.held - peers[place].underWay
            sum.free += peers[place].slot.free
            sum.heap += peers[place].heap
            sum.underWay += peers[place].underWay
        }
        return sum
    }

    /// What this process is to free of so many bytes that are missing now. All of it where it is alone.
    package mutating func part(of need: Int, own: ShortageShares.Member, at now: MonotonicInstant) -> Int {
        guard need > 0 else {
            forgive()
            return 0
        }
        guard count > 0 else { return need }
        let shares = shares(of: need, own)
        for place in 0..<used where peers[place].owner != 0 {
            remind(place, of: peers[place].isStuck ? 0 : shares.part(peers[place].slot), at: now)
        }
        return shares.part(own)
    }

    /// How so many bytes would be divided if they were missing.
    package func shares(
        of need: Int,
        _ own: ShortageShares.Member,
        _ kind: ShortageShares.Kind = .all
    ) -> ShortageShares {
        var members = InlineArray<64, ShortageShares.Member>(repeating: own)
        var size = 1
        for place in 0..<used where peers[place].owner != 0 {
            members[size] = peers[place].slot
            // Nobody counts on what he does not give.
            if peers[place].isStuck { (members[size].free, members[size].dirty) = (0, 0) }
            size += 1
        }
        return ShortageShares(of: need, among: members.span.extracting(first: size), kind)
    }

    /// Somebody owes a part. If he gives nothing for too long, nobody counts on him any more while the shortage lasts.
    private mutating func remind(_ place: Int, of part: Int, at now: MonotonicInstant) {
        guard !peers[place].isStuck else { return }
        guard part > 0 else {
            peers[place].owesSince = nil
            return
        }
        guard let since = peers[place].owesSince else {
            peers[place].owesSince = now
            return
        }
        if now - since > Self.patience { peers[place].isStuck = true }
    }

    /// Nothing is missing: nobody owes anything.
    private mutating func forgive() {
        for place in 0..<used {
            peers[place].owesSince = nil
            peers[place].isStuck = false
        }
    }

    /// What readers of all processes wait for a byte, on average, by what they hold; weighted.
    ///
    /// - Parameters:
    ///   - held: What this process holds.
    ///   - waiting: Nanoseconds a second that its readers wait, times its weight.
    /// - Returns: `nil` where they hardly wait at all: what is left of an average when nobody reads any more says who looked last,
    ///   and would move claims as far as a real need does.
    package func meanCost(held: Int, waiting: Double) -> Double? {
        var bytes = Double(held)
        var cost = waiting
        for place in 0..<used where peers[place].owner != 0 {
            bytes += Double(peers[place].slot.held)
            cost += peers[place].waiting * peers[place].weight
        }
        return bytes > 0 && cost >= Self.leastWaiting ? cost / bytes : nil
    }

    /// The claim that is worth an equal part of the room, for one who comes.
    package var meanClaim: Double {
        guard count > 0 else { return 1 }
        var sum = 0.0
        for place in 0..<used where peers[place].owner != 0 { sum += peers[place].slot.claim / peers[place].weight }
        return sum / Double(count)
    }
}
