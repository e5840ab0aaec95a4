import Glibc
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// The tier between memory and disk: values that are compressed and stay in memory.
@Suite struct CompressedTierTests {
    private func manager(
        _ tier: CompressedTier,
        fileSystem: (any NamedFileSystem)? = nil
    ) throws -> (PressureManager, PressureController) {
        let manager = try makeManager(fileSystem: fileSystem ?? InMemoryFileSystem()) { $0.compressedTier = tier }
        return (manager, try addController("app", to: manager.root))
    }

    private func memory(_ manager: PressureManager) throws -> SpillUsage {
        try #require(manager.context.engine.memory).usage()
    }

    @Test func comesBeforeTheDiskWhenItIsTold() async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(8)))
        let value = makeBytes(700_000, seed: 1)
        let cache = try controller.cache("value", initialValue: value)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.map(\.outcome) == [.compressed])
        #expect(cache.residency == .compressed)
        // What is claimed is what was saved.
        let held = try memory(manager).storedBytes
        #expect(report.claimed == .bytes(700_000 - held))
        #expect(report.heldInCompressedTier == .bytes(held))
        #expect(report.stored == .zero)
        #expect(manager.context.engine.file.usage().frames == 0)
        let snapshot = manager.snapshot()
        #expect(snapshot.tiers.compressed == .bytes(700_000))
        #expect(snapshot.compressedInMemory >= .bytes(held))
        #expect(try await cache.value() == value)
    }

    @Test func whatComesBackIsNotHeldTwice() async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(8)))
        let value = makeBytes(700_000, seed: 1)
        let cache = try controller.cache("value", initialValue: value)
        for _ in 0..<3 {
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(cache.residency == .compressed)
            #expect(try await cache.value() == value)
            #expect(try memory(manager).frames == 0)
            #expect(try memory(manager).pendingBytes == 0, "pages were not given back")
            #expect(manager.snapshot().cleanFraction == 0)
        }
    }

    @Test func whatHasNoRoomThereGoesToTheDisk() async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(1)))
        let values = (0..<20).map { makeBytes(500_000, seed: UInt64($0), randomBits: 4) }
        let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        _ = await manager.simulateMemoryWarning(.critical)
        let again = await manager.simulateMemoryWarning(.critical)
        #expect(try memory(manager).occupiedBytes <= 1 << 20)
        let residencies = caches.map(\.residency)
        #expect(residencies.contains(.compressed) && residencies.contains(.spilled), "\(residencies) \(again)")
        #expect(!residencies.contains(.resident))
        for (cache, value) in zip(caches, values) { #expect(try await cache.value() == value) }
    }

    /// Each compressed value takes pages of its own: what would not get by with fewer goes where it would go without the tier, at
    /// once.
    @Test(arguments: [(1000, false), (4551, false), (4552, true), (9000, true)])
    func whatHasNothingToGainIsNotCompressed(byteCount: Int, isCompressed: Bool) async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(8)))
        let values = (0..<20).map { makeBytes(byteCount, seed: UInt64($0), randomBits: 1) }
        let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.skipped.isEmpty)
        #expect(caches.allSatisfy { $0.residency == (isCompressed ? .compressed : .spilled) })
        #expect(try memory(manager).frames == (isCompressed ? 20 : 0))
        for (cache, value) in zip(caches, values) { #expect(try await cache.value() == value) }
    }

    /// With no disk either, it stays, and nobody tries.
    @Test func whatHasNothingToGainStaysWhereThereIsNoDisk() async throws {
        let faulty = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let (manager, controller) = try manager(.whenSpillingFails(upTo: .mebibytes(8)), fileSystem: faulty)
        let cache = try controller.cache("small", initialValue: makeBytes(1000, seed: 1, randomBits: 1))
        let large = try controller.cache("large", initialValue: makeBytes(9000, seed: 1, randomBits: 1))
        faulty.set(.init(.error(EIO), on: .write))
        for _ in 0..<3 { _ = await manager.simulateMemoryWarning(.critical) }
        #expect(cache.residency == .resident)
        #expect(large.residency == .compressed)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.skipped.map(\.reason) == [.spillSuspended])
    }

    /// With the disk at hand, not shrinking is no reason to stay.
    @Test func whatDoesNotShrinkGoesToTheDisk() async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(8)))
        let fine = try controller.cache("fine", initialValue: makeBytes(100_000, seed: 1))
        let noise = try controller.cache("noise", initialValue: makeBytes(100_000, seed: 3, randomBits: 8))
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(fine.residency == .compressed)
        #expect(noise.residency == .spilled)
        #expect(report.skipped.isEmpty)
        #expect(report.failures.isEmpty)
        #expect(try await noise.value() == makeBytes(100_000, seed: 3, randomBits: 8))
    }

    @Test func takesOverFromABrokenDisk() async throws {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let (manager, controller) = try manager(.whenSpillingFails(upTo: .mebibytes(8)), fileSystem: disk)
        let fine = try controller.cache("fine", initialValue: makeBytes(100_000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(fine.residency == .spilled)
        try fine.set(makeBytes(100_000, seed: 2))
        let noise = try controller.cache("noise", initialValue: makeBytes(100_000, seed: 3, randomBits: 8))
        disk.set(.init(.error(ENOSPC), on: .write))
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(fine.residency == .compressed)
        // Compressing it would free nothing, so it stays, and the report says why.
        #expect(noise.residency == .resident)
        #expect(report.skipped.map(\.reason) == [.notCompressible])
        #expect(report.skipped.map(\.path) == ["app/noise"])
        #expect(try await fine.value() == makeBytes(100_000, seed: 2))
        #expect(try await noise.value() == makeBytes(100_000, seed: 3, randomBits: 8))
    }

    @Test func aDamagedCopyInMemoryIsNeverAValue() async throws {
        let (manager, controller) = try manager(.first(upTo: .mebibytes(8)))
        let cache = try controller.cache("value", initialValue: makeBytes(100_000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        let file = try #require(manager.context.engine.memory)
        let noise = makeBytes(64, seed: 9, randomBits: 8)
        let arena = try #require(file.fileSystem as? MemoryArena)
        _ = try write(noise, to: arena, at: 100)
        await #expect(throws: PressureError.self) { try await cache.value() }
    }

    @Test func anArenaIsAFile() throws {
        let arena = try MemoryArena(capacity: .bytes(3 * 4096))
        let bytes = makeBytes(5000, seed: 1, randomBits: 8)
        #expect(try write(bytes, to: arena, at: 4096) == 5000)
        #expect(throws: Errno.noSpace) { try write(bytes, to: arena, at: 8192) }
        #expect(try read(5000, from: arena, at: 4096) == bytes)
        try arena.punchHole(0, at: 4096, count: 4096)
        let holed = try read(5000, from: arena, at: 4096)
        #expect(holed.prefix(4096).allSatisfy { $0 == 0 })
        #expect(holed[4096...] == bytes[4096...])
        #expect(try read(5000, from: arena, at: 8192).count == 4096, "it ends where its capacity does")
        try arena.truncate(0, to: 0)
        #expect(try read(5000, from: arena, at: 4096).allSatisfy { $0 == 0 })
    }

    private func write(_ bytes: [UInt8], to arena: MemoryArena, at offset: Int64) throws -> Int {
        // The array outlives the call.
        try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe arena.write(
                0,
                at: offset,
                from: UnsafeRawBufferPointer(rebasing: bytes[..<10]),
                UnsafeRawBufferPointer(rebasing: bytes[10...])
            )
        }
    }

    private func read(_ count: Int, from arena: MemoryArena, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xFF, count: count)
        // The array outlives the call.
        let found = try unsafe bytes.withUnsafeMutableBytes { bytes in
            let empty = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<0])
            return try unsafe arena.read(0, at: offset, into: empty, bytes)
        }
        return Array(bytes[..<found])
    }
}
