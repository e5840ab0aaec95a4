import Synchronization
import Testing

@testable import PressureKit

@Suite("A part of a keyed cache")
struct KeyedShardTests {
    /// Values that came one after the other, at 1, 2, 3, ….
    private static func shard(_ phases: [ResidencyWord]) -> KeyedShard<Int, [UInt8]> {
        var shard = KeyedShard<Int, [UInt8]>(number: 0)
        for (key, word) in phases.enumerated() {
            let slot = shard.insert(key, UInt32(key)).slot
            unsafe slot.header.pointee.word.store(word.rawValue, ordering: .relaxed)
            unsafe slot.header.pointee.arrival.store(UInt32(key + 1), ordering: .relaxed)
        }
        return shard
    }

    private static func keys(newerThan stamp: UInt32, in shard: borrowing KeyedShard<Int, [UInt8]>) -> [Int] {
        var keys: [Int] = []
        shard.forEachNewer(than: stamp) { unsafe keys.append($0.key.pointee) }
        return keys
    }

    @Test("What is new is found without a look at what is old, in memory or not")
    func newest() {
        let shard = Self.shard(Array(repeating: .unloaded, count: 100))
        #expect(Self.keys(newerThan: 97, in: shard) == [99, 98, 97])
        #expect(Self.keys(newerThan: 100, in: shard) == [])
        shard.deallocate()
    }
}
