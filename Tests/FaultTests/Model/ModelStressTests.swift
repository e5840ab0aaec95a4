import Foundation
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Everything at once, on several threads, with a disk that fails at random; each read is held against the model.
///
/// `PRESSUREKIT_SEEDS=first-last` tries other seeds than the few that are always tried. The schedule is the machine's, so
/// a seed makes a failure likely again, not certain.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ModelStressTests {
    static let seeds: ClosedRange<UInt64> = {
        let asked = ProcessInfo.processInfo.environment["PRESSUREKIT_SEEDS"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let first = asked?.first, let last = asked?.last, first <= last else { return 1...3 }
        return first...last
    }()

    @Test func everyReadIsOneThatTheModelAllows() async throws {
        for seed in Self.seeds { try await run(seed: seed) }
    }

    private func run(seed: UInt64) async throws {
        let world = try ModelWorld(variant: Int(seed % 12))
        let threads = BlockingPool(threads: 8)
        let isOver = Shared(false)
        await withTaskGroup(of: Void.self) { group in
            /// Something that goes on as long as the readers and writers do.
            func meanwhile(_ number: UInt64, _ body: @escaping @Sendable (inout SeededGenerator) async -> Void) {
                group.addTask {
                    var random = SeededGenerator(seed: seed << 8 | number)
                    while !isOver.value {
                        await body(&random)
                        await Task.yield()
                    }
                }
            }
            meanwhile(1) { await world.reclaim(&$0) }
            meanwhile(2) { await world.changeScene(&$0) }
            meanwhile(3) { random in
                let seed = random.next()
                try? await threads.run {
                    var random = SeededGenerator(seed: seed)
                    world.workAhead(&random)
                }
            }
            meanwhile(4) { random in
                world.changeDisk(&random)
                for _ in 0..<20 { await Task.yield() }
            }
            meanwhile(5) { await world.tracks.randomElement(using: &$0)!.readWithLease() }
            await work(on: world, threads, seed: seed)
            isOver.set(true)
        }
        #expect(world.complaints == [], "seed \(seed)")
        try await settle(world, seed: seed)
    }

    /// The readers and the writers, until they are done.
    private func work(on world: ModelWorld, _ threads: BlockingPool, seed: UInt64) async {
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<3 {
                group.addTask {
                    try? await threads.run {
                        var random = SeededGenerator(seed: seed << 8 | UInt64(reader + 10))
                        for round in 0..<1200 {
                            let track = world.tracks.randomElement(using: &random)!
                            if round % 4 == 0 { track.readIfLoaded() } else { track.read() }
                        }
                    }
                }
            }
            for writer in 0..<2 {
                group.addTask {
                    try? await threads.run {
                        var random = SeededGenerator(seed: seed << 8 | UInt64(writer + 20))
                        for _ in 0..<400 {
                            let number = Int.random(in: 0..<world.tracks.count / 2, using: &random) * 2 + writer
                            world.tracks[number].write(&random)
                        }
                    }
                }
            }
        }
    }

    /// With a sound disk all is there; of the last state that was saved too; and in the end nothing is left.
    private func settle(_ world: ModelWorld, seed: UInt64) async throws {
        world.disk.set(nil)
        world.clock.advance(by: .seconds(120))
        for track in world.tracks { track.read(diskIsSound: true) }
        _ = await world.manager.simulateMemoryWarning(.critical)
        for track in world.tracks { track.read(diskIsSound: true) }
        #expect(world.complaints == [], "seed \(seed)")
        var caches: [PressureSnapshot.Cache] { world.manager.snapshot().controllers.flatMap(\.caches) }
        // Who brought a value back for a task lets go of it after the task went on: on a busy machine a while after.
        while caches.contains(where: { $0.pins > 0 }) { await Task.yield() }
        // Otherwise it would have tested little.
        #expect(caches.contains { $0.evictions > 0 } && caches.contains { $0.restores > 0 }, "seed \(seed)")
        let sums = [\.evictions, \.restores, \.loads, \PressureSnapshot.Cache.failures].map { sum in
            caches.reduce(0) { $0 + $1[keyPath: sum] }
        }
        figure("model: seed \(seed): evictions, restores, loads, failures \(sums)")
        for track in world.tracks { track.forget() }
        let engine = world.manager.context.engine
        engine.file.punchPending()
        engine.memory?.punchPending()
        for file in [engine.file, engine.memory].compactMap(\.self) {
            let usage = file.usage()
            let left = [usage.frames, usage.plainBytes, usage.storedBytes, usage.occupiedBytes, usage.pendingBytes]
            #expect(left == [0, 0, 0, 0, 0], "seed \(seed): \(usage)")
        }
        await world.manager.shutdown()
        world.base.endProcess()
        try await checkState(of: world)
        #expect(world.complaints == [], "seed \(seed), restored")
        for track in world.tracks { track.disconnect() }
    }

    private func checkState(of world: ModelWorld) async throws {
        let manager = try makeManager(fileSystem: world.base)
        let controllers = try ["left", "right"].map { try addController($0, to: manager.root) }
        let report = try await manager.restoreState(from: ModelWorld.stateDirectory)
        guard report.isFound else { return }
        for number in 0..<6 {
            let cache = try controllers[number / 3].cache("value\(number)", of: [UInt8].self)
            if cache.residency == .spilled { world.tracks[number].checkSaved(try cache.withValue { $0 }) }
        }
        let kept = try controllers[0].keyedCache("kept", key: Int.self, value: [UInt8].self)
        let made = try controllers[1].keyedCache("made", key: Int.self, value: [UInt8].self)
        let pages = try controllers[1].keyedCache("pages", key: Int.self, value: PageBuffer.self)
        for number in 6..<24 {
            let track = world.tracks[number]
            if kept.residency(for: number) == .spilled { track.checkSaved(try kept.withValue(for: number) { $0 }) }
            if made.residency(for: number) == .spilled { track.checkSaved(try made.withValue(for: number) { $0 }) }
            if pages.residency(for: number) == .spilled {
                track.checkSaved(try pages.withValue(for: number) { $0.array })
            }
        }
    }
}
