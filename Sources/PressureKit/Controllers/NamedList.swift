/// Whoever is found by name among others.
protocol Named: AnyObject {
    /// What tells it from the others.
    var nameInList: String { get }
}

/// Members in the order in which they came, each found by its name. Adding, finding and removing take the same time
/// however many there are.
///
/// What is removed leaves a hole, so that nobody behind it moves; when there are more holes than members they are closed.
/// A few members are looked through, which is quicker than hashing and needs no table.
struct NamedList<Member: Named> {
    private var slots: [Member?] = []
    /// Where each name is; empty for as long as there are a few.
    private var places: [String: Int] = [:]
    /// How many members there are.
    private(set) var count = 0
    /// Slots that were looked at or moved, for tests.
    private(set) var steps = 0

    private static var few: Int { 8 }

    /// The end of the slots. Where nothing may be allocated they are gone through by index.
    var endIndex: Int { slots.count }

    /// The member in a slot; `nil` for a hole.
    subscript(index: Int) -> Member? { slots[index] }

    /// The member of a name.
    func find(_ name: String) -> Member? { index(of: name).flatMap { slots[$0] } }

    /// Adds a member at the end, if its name is free. Returns whether it was.
    @discardableResult
    mutating func append(_ member: Member) -> Bool {
        guard find(member.nameInList) == nil else { return false }
        slots.append(member)
        count += 1
        if !places.isEmpty {
            places[member.nameInList] = slots.count - 1
        } else if slots.count > Self.few {
            close()
        }
        steps += 1
        return true
    }

    /// Removes a member. Returns whether it was there.
    @discardableResult
    mutating func remove(_ member: Member) -> Bool {
        guard let index = index(of: member.nameInList), slots[index] === member else { return false }
        slots[index] = nil
        places[member.nameInList] = nil
        count -= 1
        steps += 1
        if slots.count > Swift.max(Self.few, 2 * count) { close() }
        return true
    }

    private func index(of name: String) -> Int? {
        if !places.isEmpty { return places[name] }
        // Without a table there are a few slots.
        for index in slots.indices where slots[index]?.nameInList == name { return index }
        return nil
    }

    /// Closes the holes, and makes the table if it is worth one.
    private mutating func close() {
        steps += slots.count
        slots.removeAll { $0 == nil }
        places.removeAll(keepingCapacity: true)
        guard slots.count > Self.few else { return }
        for (index, member) in slots.enumerated() {
            if let member { places[member.nameInList] = index }
        }
    }
}

extension NamedList: Sequence {
    struct Iterator: IteratorProtocol {
        fileprivate let slots: [Member?]
        private var index = 0

        fileprivate init(slots: [Member?]) { self.slots = slots }

        mutating func next() -> Member? {
            while index < slots.count {
                index += 1
                if let member = slots[index - 1] { return member }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(slots: slots) }

    var underestimatedCount: Int { count }
}

extension NamedList: Sendable where Member: Sendable {}

extension PressureController: Named {
    var nameInList: String { identifier }
}

extension CacheEntry: Named {
    var nameInList: String { name }
}
