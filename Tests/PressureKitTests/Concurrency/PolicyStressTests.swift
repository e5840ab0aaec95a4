import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// Reads, writes, reclaims, a limit, both tiers and the work of calm times at once, under every order of eviction.
@Suite(.timeLimit(.minutes(15))) struct PolicyStressTests {
    private static let keys = 64

    /// Made once: that takes longer than what is tested.
    private static let originals: [[UInt8]] = (0..<keys).map { key in
        let counts = [40, 3000, 20_000, 300_000]
        return makeBytes(counts[key % 4], seed: UInt64(key), randomBits: key % 8 == 0 ? 8 : 3)
    }

    /// Every value says whose it is and how old, so that a wrong, stale or mixed one is seen.
    private static func value(_ key: Int, version: Int) -> [UInt8] {
        var bytes = originals[key]
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: version >> (8 * index)) }
        return bytes
    }

    private static func version(_ value: [UInt8], of key: Int) -> Int? {
        let version = (0..<8).reduce(0) { $0 | Int(value[$1]) << (8 * $1) }
        return isSame(value, Self.value(key, version: version)) ? version : nil
    }

    @Test(arguments: everyPolicy) func nothingIsLostOrMixedUp(policy: any EvictionPolicy) async throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem(), workers: 2) { configuration in
            configuration.clock = clock
            configuration.policy = policy
            configuration.compressedTier = .first(upTo: .mebibytes(1))
            configuration.compressesLater = true
            // So small that plans are made in parts.
            configuration.plannedValues = 16
        }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache(
            "values",
            key: Int.self,
            value: [UInt8].self,
            options: .init(limit: .mebibytes(3))
        )
        for key in 0..<Self.keys { cache.set(Self.value(key, version: 0), for: key) }
        // The version that may be seen by now, and the one that must be.
        let begun = (0..<Self.keys).map { _ in Shared(0) }
        let published = (0..<Self.keys).map { _ in Shared(0) }
        let engine = manager.context.engine
        let calm = CleaningWorker(
            engine: engine,
            root: manager.root,
            rate: .gibibytes(1),
            isUnpressured: { !manager.isReclaiming },
            read: { BusyReading(time: $0) }
        )

        let threads = BlockingPool(threads: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<2 {
                group.addTask {
                    try await threads.run {
                        var generator = SeededGenerator(seed: UInt64(reader) << 8 | 1)
                        for _ in 0..<600 {
                            let key = Int.random(in: 0..<Self.keys, using: &generator)
                            let before = published[key].value
                            let seen = try cache.value(for: key)
                            let after = begun[key].value
                            let version = Self.version(seen, of: key)
                            guard let version, before...after ~= version else {
                                Issue.record(
                                    "\(policy.name), key \(key): \(version ?? -1) outside \(before)...\(after)"
                                )
                                return
                            }
                        }
                    }
                }
            }
            // One writer for each half of the keys.
            for writer in 0..<2 {
                group.addTask {
                    try await threads.run {
                        var generator = SeededGenerator(seed: UInt64(writer) << 8 | 2)
                        for step in 1...200 {
                            let key = 2 * Int.random(in: 0..<Self.keys / 2, using: &generator) + writer
                            begun[key].set(step)
                            if step % 3 == 0 {
                                try cache.update(for: key) { $0 = Self.value(key, version: step) }
                            } else {
                                cache.set(Self.value(key, version: step), for: key)
                            }
                            published[key].set(step)
                        }
                    }
                }
            }
            group.addTask {
                var generator = SeededGenerator(seed: 3)
                for _ in 0..<60 {
                    _ = await manager.reclaim(.bytes(Int.random(in: 0..<2_000_000, using: &generator)))
                    clock.advance(by: .seconds(5))
                }
            }
            group.addTask {
                try await threads.run {
                    for _ in 0..<600 {
                        calm.wake()
                        _ = calm.step()
                    }
                }
            }
            try await group.waitForAll()
        }
        for key in 0..<Self.keys {
            let version = Self.version(try await cache.value(for: key), of: key)
            #expect(version == published[key].value)
        }
        // What the frames hold is what the caches have, and no more.
        for key in 0..<Self.keys { cache.invalidate(for: key) }
        #expect(engine.file.usage().frames == 0)
        #expect(engine.memory?.usage().frames == 0)
        #expect(manager.snapshot().controllers.flatMap(\.caches).map(\.pins) == [0])
    }
}
