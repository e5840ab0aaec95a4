import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Where a limit counts the page cache, what a state takes there is given back.
@Suite(.timeLimit(.minutes(15))) struct StateCacheTests {
    private static let directory = "/var/tmp/state"

    private func manager(_ fileSystem: any NamedFileSystem, bypasses: Bool) throws -> PressureManager {
        try makeManager(fileSystem: fileSystem) { $0.bypassesPageCache = bypasses }
    }

    /// 24 MiB of chunks that nothing makes smaller: three windows.
    private func fill(_ manager: PressureManager) throws {
        let app = try addController("app", to: manager.root)
        for number in 0..<3 {
            _ = try app.cache("\(number)", initialValue: makeBytes(8 << 20, seed: UInt64(number), randomBits: 8))
        }
    }

    /// After the new state is in place, and not before each part of it is on the device.
    @Test(arguments: [false, true]) func aStateThatIsWrittenLeavesTheCacheWindowByWindow(bypasses: Bool) async throws {
        let disk = FaultyFileSystem()
        let manager = try manager(disk, bypasses: bypasses)
        try fill(manager)
        let calls = Shared<[FaultyFileSystem.Operation]>([])
        disk.setInterceptor { call in calls.change { $0.append(call) } }
        try await manager.saveState(to: Self.directory)
        disk.setInterceptor(nil)
        let found = calls.value.filter { [.synchronize, .writeback, .rename].contains($0) }
        let window: [FaultyFileSystem.Operation] = [.synchronize, .writeback]
        let windows = bypasses ? window + window + window : []
        #expect(
            found == windows + [.synchronize, .rename] + (bypasses ? [.writeback] : []) + [.synchronize, .synchronize]
        )
        await manager.shutdown()
    }

    /// A device that refuses a window refuses the state: synchronising once more would not say so again.
    @Test func aWindowThatTheDeviceRefusesIsNoState() async throws {
        let disk = FaultyFileSystem()
        let manager = try manager(disk, bypasses: true)
        try await manager.saveState(to: Self.directory, version: "old")
        try fill(manager)
        disk.set(.init(.error(EIO), on: .synchronize, .once(1)))
        let error = await #expect(throws: PressureError.self) { try await manager.saveState(to: Self.directory) }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.errno == EIO)
        #expect(disk.calls(.rename) == 1)
        // That nothing can be dropped is nobody's loss.
        disk.set(.init(.error(EIO), on: .writeback))
        try await manager.saveState(to: Self.directory)
        try await manager.restoreState(from: Self.directory)
        await manager.shutdown()
    }

    @Test(arguments: [false, true]) func aStateThatIsReadLeavesTheCacheAndItsFileIsReadInTheSameWay(
        bypasses: Bool
    ) async throws {
        let disk = FaultyFileSystem()
        let manager = try manager(disk, bypasses: bypasses)
        try fill(manager)
        try await manager.saveState(to: Self.directory)
        let (before, advised) = (disk.calls(.writeback), disk.calls(.advise))
        let directory = try manager.restoration.directory(Self.directory)
        let restorer = StateRestorer(place: directory, limits: manager.context.engine.file.limits)
        let checked = try #require(try restorer.read())
        #expect(checked.file.limits.bypassPageCache == bypasses)
        let drops = disk.calls(.writeback) - before
        #expect(disk.calls(.advise) - advised == 1, "from then on it is read in no order")
        #expect(bypasses ? drops >= 4 : drops == 0)
        await manager.shutdown()
    }

    // MARK: The real cache

    @Test func underALimitTheKernelKeepsNothingOfAState() async throws {
        let directory = "/var/tmp/pressurekit-state-\(UInt64.random(in: 0 ... .max))"
        defer {
            for name in ["state", "lock"] { _ = unsafe unlink("\(directory)/\(name)") }
            _ = unsafe rmdir(directory)
        }
        for bypasses in [false, true] {
            let manager = try manager(LinuxFileSystem(), bypasses: bypasses)
            try fill(manager)
            try await manager.saveState(to: directory)
            let afterSave = try CachedPages(of: "\(directory)/state")
            try await manager.restoreState(from: directory)
            let afterRestore = try CachedPages(of: "\(directory)/state")
            // So that it can be seen here at all.
            if !bypasses { #expect(afterRestore.cached > afterRestore.all / 2) }
            if bypasses { #expect((afterSave.cached, afterRestore.cached) == (0, 0), "of \(afterSave.all)") }
            await manager.shutdown()
        }
    }
}
