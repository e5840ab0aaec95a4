import CAllocationCounter
import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// What a value is taken for, against what the C library had to give for it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct FootprintEstimateTests {
    private struct Note: Codable, Sendable {
        var author: String
        var text: String
        var position: Int
        var marks: [Int]
        var reply: String?
    }

    private final class Node: Codable, Sendable {
        let name: String
        let children: [Node]
        init(name: String, children: [Node]) { (self.name, self.children) = (name, children) }
    }

    /// What is mapped for itself too: from which length on depends on what was freed before, and on the limits that other tests
    /// play (mallopt(3), `M_MMAP_THRESHOLD`).
    private static var heap: Int { Int(pk_heap_in_use() + pk_heap_mapped()) }

    /// Other tests may use the heap meanwhile: the one of several measurements that fits best counts.
    private func check<Value: Codable & Sendable>(_ name: String, _ make: () -> Value) {
        var best = Double.infinity
        var seen = (0, 0)
        for _ in 0..<5 {
            let before = Self.heap
            let value = make()
            let taken = Self.heap - before
            let claimed = Coded(value).footprint
            let ratio = Double(claimed) / Double(max(1, taken))
            if abs(ratio - 1) < abs(best - 1) { (best, seen) = (ratio, (claimed, taken)) }
        }
        #expect((0.75...1.25).contains(best), "\(name): claimed \(seen.0), took \(seen.1)")
    }

    @Test(.enabled(if: pk_allocations_are_counted(), "the C library's own books are needed"))
    func itIsWithinAQuarterOfWhatTheHeapGave() {
        func text(_ number: Int, _ length: Int) -> String { String(repeating: "\(number % 10)", count: length) }
        check("numbers") { (0..<200_000).map { $0 } }
        check("texts") { (0..<50_000).map { text($0, 20 + $0 % 60) } }
        check("short texts") { (0..<100_000).map { text($0, $0 % 15) } }
        check("structs") {
            (0..<20_000).map {
                Note(
                    author: text($0, 24),
                    text: text($0, 200),
                    position: $0,
                    marks: [1, 2, $0],
                    reply: $0 % 2 == 0 ? nil : text($0, 40)
                )
            }
        }
        check("table of numbers") { Dictionary(uniqueKeysWithValues: (0..<60_000).map { ($0, $0) }) }
        check("table of lists") {
            Dictionary(uniqueKeysWithValues: (0..<20_000).map { (text($0, 5) + "\($0)", Array(0..<($0 % 40))) })
        }
        // A few words are in many texts, most in few: the commonest has a tenth of all numbers.
        check("index") {
            Dictionary(uniqueKeysWithValues: (1...12_000).map { ("word \($0)", Array(0..<(100_000 / $0 + 1))) })
        }
        // Too many words to guess from a part of them.
        check("index of many words") {
            Dictionary(uniqueKeysWithValues: (1...40_000).map { ("word \($0)", Array(0..<(100_000 / $0 + 1))) })
        }
        check("lists of which few are long") { (0..<5_000).map { Array(0..<($0 % 25 == 7 ? 1_000 : 2)) } }
        check("set") { Set((0..<30_000).map { text($0, 20) + "\($0)" }) }
        check("data") { (0..<2_000).map { Data(repeating: UInt8($0 % 256), count: 1_000) } }
        // The first would use up what may be looked into.
        check("structs of many lengths, and others behind them") {
            [1_000, 100].map { most in
                (0..<10_000).map {
                    Note(author: "", text: text($0, $0 % 40 == 7 ? most : 100), position: $0, marks: [$0])
                }
            }
        }
        check("objects") {
            (0..<10_000).map { Node(name: text($0, 30), children: [Node(name: text($0, 3), children: [])]) }
        }
    }

    /// The index of a service: numbers that were appended, and room for as many again that nobody has written to.
    @Test func roomThatWasNeverFilledIsNotClaimed() throws {
        var numbers: [Int] = []
        for number in 0..<4_500_000 { numbers.append(number) }
        let room = numbers.capacity * 8
        #expect(numbers.capacity > numbers.count * 3 / 2, "else there is nothing to see")
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let resident = try unsafe numbers.withUnsafeBytes { bytes in
            // A block of its own, longer than any that the C library takes from the heap.
            let start = UInt(bitPattern: bytes.baseAddress) & ~UInt(page - 1)
            var pages = [UInt8](repeating: 0, count: room / page)
            let place = unsafe UnsafeMutableRawPointer(bitPattern: start)
            let result = unsafe mincore(place, pages.count * page, &pages)
            try #require(result == 0)
            return pages.count { $0 & 1 != 0 } * page
        }
        let claimed = Coded(numbers).footprint
        #expect((0.75...1.25).contains(Double(claimed) / Double(resident)), "claimed \(claimed), resident \(resident)")
    }

    /// However much the elements of a value differ.
    @Test func noMoreThanSoManyElementsAreLookedAt() {
        let lists = (0..<100_000).map { Array(0..<($0 % 50 == 0 ? 1_000 : 1)) }
        var estimate = FootprintEstimate()
        #expect(estimate.heapBytes(of: lists) > 0)
        #expect(estimate.elements > 1_000 && estimate.elements <= FootprintEstimate.mostElements)
    }

    /// A few lists have most of the bytes: whether they are among those that are looked at is no matter of luck.
    @Test func tablesWhoseEntriesDifferAreLookedAtAsAWhole() {
        let lists = Set((1...40_000).map { Array($0..<(100_000 / $0 + 1 + $0)) })
        var estimate = FootprintEstimate()
        let bytes = estimate.heapBytes(ofElementsIn: lists)
        #expect(estimate.elements >= 40_000)
        let exact = lists.reduce(0) { $0 + $1.heapBytes(&estimate) }
        #expect(bytes > exact * 99 / 100 && bytes < exact * 101 / 100, "\(bytes), \(exact)")
    }

    @Test func itTakesNoLongerForMore() {
        func made(_ count: Int) -> Int {
            let notes = (0..<count).map {
                Note(author: "a\($0)", text: String(repeating: "t", count: 50), position: 0, marks: [$0])
            }
            let before = pk_thread_allocations()
            _ = FootprintEstimate.bytes(of: notes)
            return Int(pk_thread_allocations() - before)
        }
        #expect(made(10_000) <= made(100) * 2)
    }

    /// A tree of objects is looked into no further than others, wide and deep as it is.
    @Test func aTreeOfObjectsIsLookedIntoOnlySoFar() {
        final class Pair {
            let left: Pair?, right: Pair?
            init(_ depth: Int) { (left, right) = depth > 0 ? (Pair(depth - 1), Pair(depth - 1)) : (nil, nil) }
        }
        var estimate = FootprintEstimate()
        #expect(estimate.heapBytes(of: Pair(13)) > 0)
        #expect(estimate.parts == FootprintEstimate.mostParts)
    }
}
