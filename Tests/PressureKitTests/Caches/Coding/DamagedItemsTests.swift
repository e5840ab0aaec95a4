import Foundation
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// Bytes that no value has written: a `DecodingError` or some value, never a trap, and no more memory than they account for.
@Suite(.timeLimit(.minutes(15))) struct DamagedItemsTests {
    private struct Small: Codable {
        var name = "a name"
        var list = [1, 2, 3]
        var table = ["k": 0.5]
        var byPoint = [EveryKind.Point(x: 1, y: 2): Data([1, 2])]
        var maybe: Int?
        var shape = EveryKind.Shape.pair(.circle(radius: 1), .empty)
        var set: Set = ["s", "t"]
        var more = [Small2(), Small2()]
    }

    private struct Small2: Codable {
        var wide = Int128.max
        var date = Date(timeIntervalSinceReferenceDate: 0)
        var url = URL(string: "file:///a")!
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) {
        do {
            _ = try value(type, of: bytes)
        } catch is DecodingError {
        } catch {
            Issue.record("threw \(error)")
        }
    }

    @Test func everyPrefixAndEveryBit() throws {
        for pieces in [16, 4096] {
            let bytes = try items(of: Small(), pieces: pieces)
            for end in bytes.indices {
                #expect(throws: DecodingError.self) { try value(Small.self, of: Array(bytes[..<end])) }
            }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[index] ^= 1 << UInt8(bit)
                    read(Small.self, damaged)
                }
            }
            // A key too much, or an item.
            for index in bytes.indices {
                read(Small.self, Array(bytes[..<index] + bytes[(index / 2)...]))
            }
        }
    }

    @Test func bytesOfAllKinds() {
        var generator = SeededGenerator(seed: 18)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                // Those that mean something, more often than not.
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...9, using: &generator) : .random(in: 0...255, using: &generator)
            }
            read(Small.self, bytes)
            read([Int].self, bytes)
            read([String: [Double?]].self, bytes)
            read([[Set<String>]].self, bytes)
            read(Data.self, bytes)
        }
    }

    /// A length that the bytes cannot have is refused before anything is made of it.
    @Test func aHostileLengthAllocatesNothing() {
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        for kind in UInt8(0)..<12 {
            #expect(throws: DecodingError.self) { try value([Int].self, of: [ItemTag.packed, kind] + most) }
        }
        #expect(throws: DecodingError.self) { try value(String.self, of: [ItemTag.string] + most) }
        #expect(throws: DecodingError.self) { try value(String.self, of: [ItemTag.string] + most + most) }
    }

    @Test func deepBytesDoNotOverflowTheStack() {
        indirect enum Deep: Decodable {
            case leaf
            case node(Deep)
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                self = container.isAtEnd ? .leaf : .node(try container.decode(Deep.self))
            }
        }
        let open: [UInt8] = [ItemTag.array, 0, 0, 0]
        let bytes = (0..<100_000).flatMap { _ in open } + [UInt8](repeating: ItemTag.end, count: 100_000)
        #expect(throws: DecodingError.self) { try value(Deep.self, of: bytes) }
    }

    @Test func textThatIsNoUTF8IsRefusedNotRepaired() {
        #expect(throws: DecodingError.self) { try value(String.self, of: [ItemTag.shortString + 2, 0xC3, 0x28]) }
    }
}
