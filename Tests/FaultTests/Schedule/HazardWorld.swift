#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit

/// One slot, read by hazard pointers and by pins while others take its value away. Stores of a reader to its own lines go
/// through a buffer, as a processor's do, and are seen by the others later; the word and the claims are changed by atomic
/// exchanges, which empty the buffer.
struct HazardWorld: Hashable {
    /// Steps that are left out, to see that the model notices.
    enum Omission: Hashable, CaseIterable { case firstFence, secondLook, claim, settling, ownPin }

    struct Reader: Hashable {
        enum Place: Hashable { case start, seen, published, reading(isCounted: Bool), leaving, taking, done }
        var place = Place.start
        var rounds: Int
        /// What others see in the thread's place, what is on its way there, oldest first, and the claim on it.
        var published = false
        var buffer: [Bool] = []
        var claim = false
    }

    struct Taker: Hashable {
        enum Kind: Hashable { case evictor, replacer }
        enum Place: Hashable {
            case start, waiting, claiming(Int), looked(Int), pinned(Int), settling(Int), exchanging(Int), given, taking,
                done
            case fencing(first: Bool, left: Set<Int>)
        }
        var kind: Kind
        var place = Place.start
        var rounds: Int
    }

    var word: ResidencyWord
    var hasValue = true
    var readers: [Reader]
    var takers: [Taker]
    /// How often a reader may still draw the bias.
    var draws: Int
    /// The taker whose turn it is to scan.
    var turn: Int?
    var fault: String?

    init(readers: Int, rounds: Int, takers: [Taker.Kind], takerRounds: Int = 1, draws: Int) {
        word = ResidencyWord.mutating.finishingMutation(hasValue: true, stamp: 0, isReloadable: true)!.biasing()!
        self.readers = Array(repeating: Reader(rounds: rounds), count: readers)
        self.takers = takers.map { Taker(kind: $0, rounds: takerRounds) }
        self.draws = draws
    }

    func next(without omission: Omission?) -> [HazardWorld] {
        guard fault == nil else { return [] }
        var worlds: [HazardWorld] = []
        for index in readers.indices {
            if !readers[index].buffer.isEmpty { worlds.append(with { $0.drainOne(index) }) }
            worlds += reading(index, omission)
        }
        for index in takers.indices { worlds += taking(index, omission) }
        return worlds
    }

    /// What must hold when nobody can take another step.
    var faultAtTheEnd: String? {
        if readers.contains(where: { $0.place != .done }) || takers.contains(where: { $0.place != .done }) {
            return "somebody waits for ever"
        }
        if word.pins != 0 { return "\(word.pins) pins stay" }
        if readers.contains(where: { $0.claim || $0.published }) { return "a place is not empty" }
        return nil
    }

    // MARK: Readers

    private func reading(_ index: Int, _ omission: Omission?) -> [HazardWorld] {
        switch readers[index].place {
        case .start:
            if word.isBiased { return [with { $0.readers[index].place = .seen }] }
            guard let pinned = word.pinning(stamp: 0) else { return [with { $0.finish(index) }] }
            var worlds = [
                with {
                    $0.word = pinned; $0.look(index, isCounted: true)
                }
            ]
            if draws > 0, let biased = pinned.biasing() {
                worlds.append(
                    with {
                        $0.word = biased; $0.draws -= 1; $0.look(index, isCounted: true)
                    }
                )
            }
            return worlds
        case .seen:
            return [
                with {
                    $0.store(true, index); $0.readers[index].place = .published
                }
            ]
        case .published:
            guard word.isBiased || omission == .secondLook else {
                return [
                    with {
                        $0.store(false, index); $0.readers[index].place = .leaving
                    }
                ]
            }
            return [with { $0.look(index, isCounted: false) }]
        case .reading(let isCounted):
            return [
                with { world in
                    if !world.hasValue { world.fault = "the value went from under a reader" }
                    guard isCounted else {
                        world.store(false, index)
                        return world.readers[index].place = .leaving
                    }
                    world.drain(index)
                    world.unpin()
                    world.finish(index)
                }
            ]
        case .leaving:
            return [with { if readers[index].claim { $0.readers[index].place = .taking } else { $0.finish(index) } }]
        case .taking:
            return [
                with { world in
                    world.drain(index)
                    if world.readers[index].claim {
                        world.readers[index].claim = false
                        world.unpin()
                    }
                    world.finish(index)
                }
            ]
        case .done: return []
        }
    }

    private mutating func look(_ index: Int, isCounted: Bool) {
        if isCounted { drain(index) }
        if !hasValue { fault = "a reader found no value" }
        readers[index].place = .reading(isCounted: isCounted)
    }

    private mutating func store(_ isPublished: Bool, _ index: Int) { readers[index].buffer.append(isPublished) }

    private mutating func drainOne(_ index: Int) { readers[index].published = readers[index].buffer.removeFirst() }

    private mutating func drain(_ index: Int) { while !readers[index].buffer.isEmpty { drainOne(index) } }

    private mutating func finish(_ index: Int) {
        readers[index].rounds -= 1
        readers[index].place = readers[index].rounds > 0 ? .start : .done
    }

    private mutating func unpin() {
        if word.pins == 0 { fault = "a pin too many was given back" }
        word.rawValue -= 1
        if word.isAbandoned { refill() }
    }

    // MARK: Who takes values away

    private func taking(_ index: Int, _ omission: Omission?) -> [HazardWorld] {
        switch takers[index].place {
        case .start:
            guard var revoked = word.revokingBias() else { return [with { $0.takers[index].place = .taking }] }
            if omission == .ownPin { revoked.rawValue -= 1 }
            let isFenced = omission != .firstFence
            return [
                with {
                    $0.word = revoked; $0.takers[index].place = isFenced ? fencing(first: true) : .waiting
                }
            ]
        case .fencing(let isFirst, let left):
            guard !left.isEmpty else {
                return [with { $0.takers[index].place = isFirst ? .waiting : .settling(0) }]
            }
            // The threads run it in any order.
            return left.map { reader in
                with {
                    $0.drain(reader);
                    $0.takers[index].place = .fencing(first: isFirst, left: left.subtracting([reader]))
                }
            }
        case .waiting:
            return turn == nil
                ? [
                    with {
                        $0.turn = index; $0.takers[index].place = .claiming(0)
                    }
                ] : []
        case .claiming(let reader):
            guard reader < readers.count else {
                return [
                    with { $0.takers[index].place = omission == .settling ? .settling(reader) : fencing(first: false) }
                ]
            }
            let isFound = readers[reader].published && omission != .claim
            return [with { $0.takers[index].place = isFound ? .looked(reader) : .claiming(reader + 1) }]
        case .looked(let reader):
            guard !readers[reader].claim else { return [with { $0.takers[index].place = .claiming(reader + 1) }] }
            return [
                with {
                    $0.word.rawValue += 1; $0.takers[index].place = .pinned(reader)
                }
            ]
        case .pinned(let reader):
            return [
                with {
                    $0.readers[reader].claim = true; $0.takers[index].place = .claiming(reader + 1)
                }
            ]
        case .settling(let reader):
            guard reader < readers.count else {
                return [
                    with {
                        $0.turn = nil; $0.takers[index].place = .given
                    }
                ]
            }
            let hasLeft = readers[reader].claim && !readers[reader].published
            return [with { $0.takers[index].place = hasLeft ? .exchanging(reader) : .settling(reader + 1) }]
        case .exchanging(let reader):
            return [
                with { world in
                    // Unless the reader was quicker.
                    if readers[reader].claim { world.word.rawValue -= 1 }
                    world.readers[reader].claim = false
                    world.takers[index].place = .settling(reader + 1)
                }
            ]
        case .given:
            return [
                with {
                    if omission != .ownPin { $0.unpin() }; $0.takers[index].place = .taking
                }
            ]
        case .taking: return [take(index)]
        case .done: return []
        }
    }

    private func fencing(first: Bool) -> Taker.Place { .fencing(first: first, left: Set(readers.indices)) }

    /// Takes the value if nobody holds it; the replacer puts another in its place if somebody does.
    private func take(_ index: Int) -> HazardWorld {
        with { world in
            world.takers[index].rounds -= 1
            world.takers[index].place = world.takers[index].rounds > 0 ? .start : .done
            if let owned = word.beginningRelease(dropping: true) {
                world.word = owned
                world.emptyAndRefill()
            } else if takers[index].kind == .replacer, let retired = word.retiring() {
                world.word = retired
                if retired.isAbandoned { world.refill() }
            }
        }
    }

    private mutating func emptyAndRefill() {
        let isRead = readers.contains { if case .reading = $0.place { true } else { false } }
        if isRead { fault = "the value was taken from under a reader" }
        refill()
    }

    /// The slot has another value at once: it may be the same cache's next one.
    private mutating func refill() {
        let isRead = readers.contains { if case .reading(isCounted: false) = $0.place { !$0.claim } else { false } }
        if isRead { fault = "the slot was emptied under a reader" }
        word = ResidencyWord.mutating.finishingMutation(hasValue: true, stamp: 0, isReloadable: true)!
    }

    private func with(_ change: (inout HazardWorld) -> Void) -> HazardWorld {
        var world = self
        change(&world)
        return world
    }
}
#endif
