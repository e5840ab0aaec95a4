import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A value that is changed between two steps of whoever moves it, at each step in turn.
@Suite struct LateChangeTests {
    /// What a writer does to a value whose copy is being moved.
    enum Change { case set, setTheSame, invalidate }

    private static let old = makeBytes(600_000, seed: 1)
    private static let new = makeBytes(5000, seed: 2)

    private struct Bench {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager: PressureManager
        let controller: PressureController
        let tools: CleaningTools

        init() throws {
            manager = try makeManager(fileSystem: disk) { $0.compressedTier = .first(upTo: .mebibytes(8)) }
            controller = try addController("app", to: manager.root)
            tools = try CleaningTools()
        }

        var engine: ReclaimEngine { manager.context.engine }

        func isEmpty() -> Bool { engine.file.usage().frames == 0 && engine.memory?.usage().frames == 0 }
    }

    /// The calm worker holds the slot as a restore does, which keeps no writer away.
    @Test(arguments: [Change.set, .setTheSame, .invalidate], 1...4)
    func aValueThatIsReplacedWhileItsCopyMovesIsTheNewOne(_ change: Change, at chunk: Int) async throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("value", initialValue: Self.old)
        _ = await bench.manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .compressed)
        let asked = Shared(0)
        // The slot is the entry's own, and stays its own until the move has ended.
        let slot = unsafe cache.entry.slot.base
        _ = try unsafe cache.entry.moveCopy(slot, to: bench.engine.file, with: bench.tools) {
            guard
                asked.change({
                    $0 += 1; return $0
                }) == chunk
            else { return true }
            switch change {
            case .set: try? cache.set(Self.new)
            case .setTheSame: try? cache.set(Self.old)
            case .invalidate: try? cache.invalidate()
            }
            return true
        }
        switch change {
        case .set: #expect(try await cache.value() == (asked.value >= chunk ? Self.new : Self.old))
        case .setTheSame: #expect(try await cache.value() == Self.old)
        case .invalidate:
            if asked.value >= chunk {
                await #expect(throws: PressureError.self) { try await cache.value() }
            } else {
                #expect(try await cache.value() == Self.old)
            }
        }
        try cache.invalidate()
        #expect(bench.isEmpty())
        #expect(cache.entry.pins == 0)
    }

    @Test(arguments: [Change.set, .invalidate], 1...4)
    func aKeyedValueThatIsReplacedWhileItsCopyMovesIsTheNewOne(_ change: Change, at chunk: Int) async throws {
        let bench = try Bench()
        let cache = try bench.controller.keyedCache("values", key: Int.self, value: [UInt8].self)
        cache.set(Self.old, for: 1)
        _ = await bench.manager.simulateMemoryWarning(.critical)
        try #require(cache.residency(for: 1) == .compressed)
        let asked = Shared(0)
        var slot: UnsafeMutableRawPointer?
        // Of the one value there is.
        unsafe cache.entry.forEachSlot { unsafe slot = $0 }
        _ = try unsafe cache.entry.moveCopy(#require(slot), to: bench.engine.file, with: bench.tools) {
            guard
                asked.change({
                    $0 += 1; return $0
                }) == chunk
            else { return true }
            if change == .set { cache.set(Self.new, for: 1) } else { cache.invalidate(for: 1) }
            return true
        }
        let isChanged = asked.value >= chunk
        switch change {
        case .set: #expect(try await cache.value(for: 1) == (isChanged ? Self.new : Self.old))
        default: #expect(cache.count == (isChanged ? 0 : 1))
        }
        cache.invalidate(for: 1)
        #expect(bench.isEmpty())
        #expect(cache.count == 0)
        #expect(cache.entry.pins == 0)
    }

    /// One copy that cannot be read is no reason to stop writing all others.
    @Test(arguments: [FaultyFileSystem.Fault.error(EIO), .bitFlip])
    func aCopyThatCannotBeReadDoesNotSuspendWriting(_ fault: FaultyFileSystem.Fault) async throws {
        let clock = ManualClock()
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.clock = clock }
        let controller = try addController("app", to: manager.root)
        let engine = manager.context.engine
        let cache = try controller.cache("hasty", initialValue: Self.old)
        // As a reclaim does where the disk is fast and the codec slow. The slot is the entry's own.
        let slot = unsafe cache.entry.slot.base
        try #require(unsafe cache.entry.beginCopy(slot, in: engine.file))
        let hasty = ChunkCopier(file: engine.file, choice: .stored, compressesLater: true)
        let encoder = try ChunkEncoder()
        _ = unsafe hasty.copy(0..<3, of: cache.entry, slot, with: encoder, for: .reclaim)
        unsafe cache.entry.finishCopy(slot, succeeded: true, isProvisional: true)
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .spilled)

        let worker = CleaningWorker(
            engine: engine,
            root: manager.root,
            rate: .gibibytes(1),
            isUnpressured: { true },
            read: { BusyReading(time: $0) }
        )
        for _ in 0..<3 {
            worker.wake()
            clock.advance(by: ColdLine.interval)
        }
        disk.set(.init(fault, on: .read))
        for _ in 0..<20 {
            guard let pause = worker.step() ?? nil else { break }
            clock.advance(by: pause)
        }
        #expect(disk.faults > 0)
        #expect(engine.canSpill, "nothing could be spilled for a while")
        // It is left alone until a reader wants it, so that the worker sleeps again.
        #expect(disk.faults < 4)
        disk.set(nil)
        #expect(try await cache.value() == Self.old)
    }
}
