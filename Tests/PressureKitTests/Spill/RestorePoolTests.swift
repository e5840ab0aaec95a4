import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct RestorePoolTests {
    @Test(arguments: [0, 1, 3]) func readsEveryChunkOnce(helpers: Int) throws {
        let pool = RestorePool(helpers: helpers)
        for chunks in [0, 1, 2, 7, 64] {
            let seen = Lock<[Int]>([])
            let decoder = try ChunkDecoder()
            try pool.read(chunks: chunks, with: decoder, others: DecoderPool()) { (chunk, _) throws(SpillFailure) in
                seen.withLock { $0.append(chunk) }
            }
            #expect(seen.withLock { $0.sorted() } == Array(0..<chunks))
        }
    }

    @Test(arguments: [0, 2]) func aFailureIsToldAndEndsTheRest(helpers: Int) throws {
        let pool = RestorePool(helpers: helpers)
        let count = Atomic<Int>(0)
        let decoder = try ChunkDecoder()
        let error = #expect(throws: SpillFailure.self) {
            try pool.read(chunks: 1000, with: decoder, others: DecoderPool()) { (chunk, _) throws(SpillFailure) in
                count.wrappingAdd(1, ordering: .relaxed)
                if chunk == 3 { throw .notWritten }
            }
        }
        #expect(error == .notWritten)
        // Others may have gone through the rest before it failed.
        if helpers == 0 { #expect(count.load(ordering: .relaxed) == 4) }
    }

    /// Helpers share what is there; no reader waits for another one's value.
    @Test func manyReadersAtOnceAllGetTheirs() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let values = (0..<8).map { makeBytes(1_000_000 + $0 * 100_000, seed: UInt64($0)) }
        let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        for _ in 0..<3 {
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(caches.allSatisfy { $0.residency == .spilled })
            try await withThrowingTaskGroup { group in
                for (cache, value) in zip(caches, values) {
                    group.addTask {
                        let back = try await cache.value()
                        #expect(back == value)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
