import CAllocationCounter
import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// The format of `Coded` values: there and back.
@Suite(.timeLimit(.minutes(15))) struct ItemCodingTests {
    private func roundTrip<Value: Codable & Equatable>(_ value: Value, _ place: SourceLocation = #_sourceLocation)
        throws
    {
        let bytes = try items(of: value)
        #expect(try PressureKitTests.value(Value.self, of: bytes) == value, sourceLocation: place)
        #expect(try items(of: value) == bytes, sourceLocation: place)
        // Containers that are passed on before their length is known.
        let inPieces = try items(of: value, pieces: 16)
        #expect(inPieces.count == bytes.count, sourceLocation: place)
        #expect(try PressureKitTests.value(Value.self, of: inPieces) == value, sourceLocation: place)
    }

    @Test func everyKindOfValueComesBack() throws {
        try roundTrip(EveryKind())
        try roundTrip([EveryKind()])
        try roundTrip(EveryKind.Empty())
        try roundTrip(ByHand(a: [1, 2, 300], b: ["first": 1, "second": -2], inner: .init(text: "t"), base: 7))
        try roundTrip(7)
        try roundTrip("text")
        try roundTrip(Int?.none)
        try roundTrip([Int]())
        try roundTrip([String: Int]())
        try roundTrip(Date(timeIntervalSinceReferenceDate: 12_345.678))
        try roundTrip(Data(makeBytes(100_000, seed: 1)))
    }

    /// Encoders are used again while a value is encoded, and gone with it: each keeps the writer.
    @Test func nothingOfTheEncodingStays() throws {
        weak var kept: SpillWriter?
        do {
            let writer = SpillWriter()
            kept = writer
            try ItemEncoder.encode([EveryKind(), EveryKind()], to: writer)
        }
        #expect(kept == nil)
    }

    /// They are not packed, and have no coder each either.
    @Test(.enabled(if: pk_allocations_are_counted(), "the C library's own books are needed"))
    func wideIntegersAreItemsInArraysToo() throws {
        let numbers = (0..<128).flatMap { shift -> [Int128] in
            let number = Int128(truncatingIfNeeded: UInt128(1) << UInt128(shift))
            return [number, ~number, number &- 1]
        }
        try roundTrip(numbers)
        try roundTrip(numbers.map { UInt128(bitPattern: $0) })
        // As another version of a type has them, in both directions.
        #expect(try value([Int128].self, of: items(of: [1, -2, Int.max])) == [1, -2, Int128(Int.max)])
        #expect(try value([Int].self, of: items(of: [1, -2] as [Int128])) == [1, -2])
        #expect(throws: DecodingError.self) { try value([Int].self, of: items(of: [1 << 64] as [Int128])) }
        #expect(throws: DecodingError.self) { try value([UInt128].self, of: items(of: [-1] as [Int128])) }

        let many = (0..<10_000).map { UInt128($0) << 90 }
        let before = pk_thread_allocations()
        let bytes = try items(of: many)
        let written = pk_thread_allocations()
        #expect(try value([UInt128].self, of: bytes).count == many.count)
        #expect(written - before < 1_000)
        #expect(pk_thread_allocations() - written < 1_000)
    }

    @Test func notANumberKeepsItsBits() throws {
        let odd = Double(bitPattern: 0x7FF8_0000_DEAD_BEEF)
        let back = try value([Double].self, of: items(of: [odd, .nan]))
        #expect(back.map(\.bitPattern) == [odd.bitPattern, Double.nan.bitPattern])
        #expect(try value(Double.self, of: items(of: odd)).bitPattern == odd.bitPattern)
        #expect(try value(Float.self, of: items(of: Float.nan)).isNaN)
    }

    /// As it is with any coder: a later version of a type reads what an earlier one has written.
    @Test func numbersAreReadAsOtherTypesThatHaveRoomForThem() throws {
        #expect(try value([UInt8].self, of: items(of: [1, 2, 255])) == [1, 2, 255])
        #expect(try value([Double].self, of: items(of: [1, -2])) == [1, -2])
        #expect(try value([Double].self, of: items(of: [Float(0.5)])) == [0.5])
        #expect(try value(Set<Int16>.self, of: items(of: [1, 2, -3])) == [1, 2, -3])
        #expect(try value([Int?].self, of: items(of: [1, 2])) == [1, 2])
        #expect(try value(Double.self, of: items(of: 3)) == 3)
        #expect(throws: DecodingError.self) { try value([UInt8].self, of: items(of: [256])) }
        #expect(throws: DecodingError.self) { try value([UInt].self, of: items(of: [-1])) }
        #expect(throws: DecodingError.self) { try value(UInt64.self, of: items(of: -1)) }
        #expect(throws: DecodingError.self) { try value(Int64.self, of: items(of: UInt64.max)) }
        #expect(throws: DecodingError.self) { try value(String.self, of: items(of: 1)) }
        #expect(throws: DecodingError.self) { try value(Int.self, of: items(of: Int?.none)) }
        #expect(throws: DecodingError.self) { try value([Int].self, of: items(of: ["a"])) }
    }

    @Test func equalValuesAreEqualBytes() throws {
        func table(_ order: some Sequence<Int>, _ room: Int) -> [String: Set<EveryKind.Point>] {
            var table: [String: Set<EveryKind.Point>] = [:]
            table.reserveCapacity(room)
            for number in order {
                var points = Set<EveryKind.Point>(minimumCapacity: room)
                for number in order { points.insert(.init(x: number, y: -number)) }
                table["\(number)"] = points
            }
            return table
        }
        let (first, second) = (table(0..<20, 20), table((0..<20).reversed(), 3_000))
        #expect(Array(first.keys) != Array(second.keys), "the same order shows nothing")
        #expect(try items(of: first) == items(of: second))
    }

    /// What one type writes by keys another may read by some of them, or in another order.
    @Test func keysMayBeMissingOrMore() throws {
        struct Old: Codable { var a = 1, gone = [1, 2, 3], b = "b" }
        struct New: Codable { var b: String, added: [String]?, a: Double }
        let new = try value(New.self, of: items(of: Old()))
        #expect(new.a == 1 && new.b == "b" && new.added == nil)
        struct Lacking: Codable { var c: Int }
        do {
            _ = try value([Lacking].self, of: items(of: [Old()]))
            Issue.record("read a key that is not there")
        } catch DecodingError.keyNotFound(let key, let context) {
            #expect(key.stringValue == "c")
            #expect(context.codingPath.map(\.stringValue) == ["Index 0"])
        }
    }

    @Test func aKeyThatIsEncodedTwiceIsAnErrorNotALoss() {
        struct Twice: Encodable {
            enum Key: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .a)
            }
        }
        #expect(throws: EncodingError.self) { try items(of: Twice()) }
    }

    @Test func aValueThatEncodesNothingIsAnError() {
        struct Mute: Encodable { func encode(to encoder: any Encoder) throws {} }
        #expect(throws: EncodingError.self) { try items(of: Mute()) }
        #expect(throws: EncodingError.self) { try items(of: [Mute()]) }
    }

    @Test func valuesThatLieTooDeepAreNotWrittenEither() throws {
        final class Link: Codable {
            var next: Link?
            init(_ next: Link?) { self.next = next }
        }
        func chain(_ length: Int) -> Link { (1..<length).reduce(Link(nil)) { link, _ in Link(link) } }
        let bytes = try items(of: chain(ItemTag.mostDepth))
        _ = try value(Link.self, of: bytes)
        #expect(throws: EncodingError.self) { try items(of: chain(ItemTag.mostDepth + 1)) }
    }

    /// No tree, and nothing that grows with the value: looked at whenever a piece is passed on. Other tests may use the heap
    /// meanwhile, so that the least of some runs counts.
    @Test(.enabled(if: pk_allocations_are_counted(), "the C library's own books are needed"))
    func encodingTakesNoMemoryOfTheLengthOfTheValue() throws {
        struct Part: Codable { var name: String, numbers: [Int], more: [String: Double] }
        let parts = (0..<5_000).map { number in
            Part(name: "part number \(number)", numbers: Array(0..<20), more: ["a": 1, "b": Double(number)])
        }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        // As long as this test.
        defer { unsafe piece.deallocate() }
        var least = Int.max
        for _ in 0..<5 {
            let before = Int(pk_heap_in_use())
            var most = 0
            let writer = unsafe SpillWriter(piece: piece) { _ in most = max(most, Int(pk_heap_in_use()) - before) }
            try ItemEncoder.encode(parts, to: writer)
            #expect(writer.byteCount > 400_000)
            least = min(least, most)
        }
        #expect(least < 32 << 10)
    }
}
