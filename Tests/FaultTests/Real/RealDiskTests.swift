#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Disks that are really full, read-only, or somebody else's.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealDisk.isAvailable, "\(RealDisk.objection ?? "")"))
struct RealDiskTests {
    private static let values = (0..<12).map { makeBytes(1 << 20, seed: UInt64($0), randomBits: 8) }

    /// A disk of a few MiB takes what fits; the rest stays in memory, and goes when there is room again.
    @Test(arguments: [false, true])
    func whatDoesNotFitOnASmallDiskStaysInMemory(isMemory: Bool) async throws {
        let disk = try isMemory ? RealDisk(memoryMebibytes: 8) : RealDisk(mebibytes: 12)
        defer { try? disk.remove() }
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: LinuxFileSystem()) {
            $0.spillDirectory = disk.path
            $0.allowsMemoryBackedSpill = isMemory
            $0.clock = clock
        }
        let controller = try addController("app", to: manager.root)
        let caches = try Self.values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        let first = await manager.simulateMemoryWarning(.critical)
        let spilled = caches.filter { $0.residency == .spilled }
        #expect((1..<12).contains(spilled.count), "\(spilled.count)")
        #expect(Set(first.failures.map(\.code)) == [.diskFull])
        #expect(first.failures.allSatisfy { $0.errno == ENOSPC })
        for (cache, value) in zip(caches, Self.values) { #expect(try cache.withValue { isSame($0, value) }) }
        // All but two go, and the others find room.
        for cache in caches[2...] { try cache.invalidate() }
        manager.context.engine.file.punchPending()
        clock.advance(by: .seconds(120))
        let second = await manager.simulateMemoryWarning(.critical)
        #expect(second.failures.isEmpty)
        for (cache, value) in zip(caches[..<2], Self.values) {
            #expect(cache.residency == .spilled)
            #expect(try cache.withValue { isSame($0, value) })
        }
    }

    /// Somebody else fills the disk between two warnings.
    @Test func aDiskThatFillsUpCostsNothing() async throws {
        let disk = try RealDisk(mebibytes: 32)
        defer { try? disk.remove() }
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: LinuxFileSystem()) {
            $0.spillDirectory = disk.path
            $0.clock = clock
        }
        let controller = try addController("app", to: manager.root)
        let caches = try Self.values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(caches.allSatisfy { $0.residency == .spilled })
        disk.fill()
        for (cache, value) in zip(caches, Self.values) { #expect(try cache.withValue { isSame($0, value) }) }
        for cache in caches { try cache.update { $0.swapAt(0, 1) } }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.count + report.skipped.count >= 12)
        await #expect(throws: PressureError.self) { try await manager.saveState(to: disk.path + "/state") }
        try disk.empty()
        clock.advance(by: .seconds(120))
        #expect(await manager.simulateMemoryWarning(.critical).failures.isEmpty)
        for (cache, value) in zip(caches, Self.values) {
            var changed = value
            changed.swapAt(0, 1)
            #expect(try cache.withValue { isSame($0, changed) })
        }
    }

    @Test func aReadOnlyDiskSaysSo() throws {
        let disk = try RealDisk(mebibytes: 8)
        defer { try? disk.remove() }
        try disk.makeReadOnly()
        let error = #expect(throws: PressureError.self) {
            try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = disk.path }
        }
        #expect(error?.code == .spillDirectoryUnusable)
        #expect(error?.errno == EROFS)
    }

    /// As a user who may not write there.
    @Test func aDirectoryWithoutPermissionSaysSo() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let value = makeBytes(300_000, seed: 1)
            let cache = try controller.cache("mine", initialValue: value)
            // For good: of root all three numbers are set.
            require(setuid(65_534) == 0, "setuid")
            // Open files stay open.
            _ = await manager.simulateMemoryWarning(.critical)
            require(cache.residency == .spilled, "\(cache.residency)")
            require(try cache.withValue { isSame($0, value) }, "wrong bytes")
            do {
                _ = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
                require(false, "a manager without permission")
            } catch {
                require((error as? PressureError)?.code == .spillDirectoryUnusable, "\(error)")
            }
            exit(0)
        }
    }
}
#endif
