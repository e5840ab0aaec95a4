#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct NamedListTests {
    private final class Member: Named {
        let nameInList: String
        init(_ name: String) { nameInList = name }
    }

    /// Against an array that is looked through: names, order, holes, and the table that a few members do without.
    @Test(arguments: 0..<8) func itIsAnArrayThatFindsByName(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = NamedList<Member>()
        var model: [Member] = []
        let names = 4 << (seed % 4)
        for step in 0..<2000 {
            let name = "\(Int.random(in: 0..<names, using: &random))"
            let known = model.first { $0.nameInList == name }
            if Int.random(in: 0..<Int(2 + seed % 3), using: &random) == 0 {
                let member = Member(name)
                let isAdded = list.append(member)
                #expect(isAdded == (known == nil), "seed \(seed), step \(step)")
                if known == nil { model.append(member) }
            } else if let known {
                let isForeignRemoved = list.remove(Member(name))
                let isRemoved = list.remove(known)
                #expect(!isForeignRemoved && isRemoved, "another of the same name is no member")
                model.removeAll { $0 === known }
            }
            #expect(list.find(name) === model.first { $0.nameInList == name }, "seed \(seed), step \(step)")
            guard list.count == model.count, list.elementsEqual(model, by: { $0 === $1 }) else {
                Issue.record("seed \(seed), step \(step): \(list.map(\.nameInList)) for \(model.map(\.nameInList))")
                return
            }
        }
    }

    /// What is removed goes at once, not when the holes are closed.
    @Test func nothingIsKeptThatWasRemoved() {
        var list = NamedList<Member>()
        for number in 0..<100 { list.append(Member("\(number)")) }
        weak let first = list.find("0")
        if let first { list.remove(first) }
        #expect(first == nil)
    }

    private enum Removal: CaseIterable { case fromTheFront, fromTheBack, everyOther }

    /// The slots that are looked at, not the time.
    @Test(arguments: Removal.allCases) private func tenTimesAsManySiblingsAreTenTimesTheWork(_ removal: Removal) throws
    {
        func work(_ count: Int) throws -> Int {
            let parent = PressureController("parent")
            for number in 0..<count { try parent.addChild(PressureController("\(number)")) }
            let children = parent.children
            #expect(children.count == count)
            let leaving: [PressureController] =
                switch removal {
                case .fromTheFront: children
                case .fromTheBack: children.reversed()
                case .everyOther: children.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                }
            for child in leaving { child.removeFromParent() }
            #expect(parent.children.count == count - leaving.count)
            return parent.state.withLock { $0.children.steps }
        }
        let (few, many) = (try work(5000), try work(50_000))
        #expect(few >= 5000)
        #expect(many <= 11 * few, "\(few) and \(many)")
    }

    /// A controller with very many caches, as one with very many children.
    @Test func aControllerWithManyCachesRegistersAndRemovesEachInTheSameTime() throws {
        func work(_ count: Int) throws -> Int {
            let controller = PressureController("many")
            let caches = try (0..<count).map { try controller.cache("\($0)", initialValue: [1] as [UInt8]) }
            for cache in caches { controller.removeCache(cache) }
            #expect(controller.state.withLock { $0.entries.count } == 0)
            return controller.state.withLock { $0.entries.steps }
        }
        let (few, many) = (try work(1000), try work(10_000))
        #expect(few >= 1000)
        #expect(many <= 11 * few, "\(few) and \(many)")
    }
}
#endif
