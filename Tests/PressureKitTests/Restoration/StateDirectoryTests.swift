import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The directory that a state lives in: whose it may be, and that one manager holds it.
@Suite(.timeLimit(.minutes(15))) struct StateDirectoryTests {
    private typealias App = StateBench.App
    private let bench = StateBench()

    @Test func oneManagerHoldsTheDirectory() async throws {
        let (first, second) = (try App(bench.disk), try App(bench.disk))
        try await first.manager.saveState(to: StateBench.directory)
        for _ in 0..<2 {
            let error = await #expect(throws: PressureError.self) {
                try await second.manager.saveState(to: StateBench.directory)
            }
            #expect(error?.code == .stateDirectoryInUse)
        }
        try await first.manager.saveState(to: StateBench.directory)
    }

    /// An app that starts its manager anew need not wait until nobody has the old one any more.
    @Test func aManagerThatIsShutDownHoldsItNoLonger() async throws {
        let (first, second) = (try App(bench.disk), try App(bench.disk))
        _ = try first.news.cache("x", initialValue: makeBytes(1_000, seed: 4))
        try await first.manager.saveState(to: StateBench.directory)
        await first.manager.shutdown()
        // Nor does it from one save to the next.
        try await first.manager.saveState(to: StateBench.directory)
        #expect(try await second.manager.restoreState(from: StateBench.directory).isFound)
        let error = await #expect(throws: PressureError.self) {
            try await first.manager.saveState(to: StateBench.directory)
        }
        #expect(error?.code == .stateDirectoryInUse)
    }

    @Test func aDirectoryThatOthersCanUseIsRefused() async throws {
        let app = try App(bench.disk)
        for (owner, permissions) in [(UInt32(1000), UInt32(0o755)), (1000, 0o770), (0, 0o700), (1001, 0o700)] {
            let facts = DirectoryFacts(
                isDirectory: true,
                owner: owner,
                permissions: permissions,
                magic: 0xEF53,
                device: nil
            )
            bench.base.setDirectory(StateBench.directory, facts)
            let error = await #expect(throws: PressureError.self) {
                try await app.manager.saveState(to: StateBench.directory)
            }
            #expect(error?.code == .stateDirectoryUnusable)
        }
        let user = bench.base.effectiveUser
        var facts = DirectoryFacts(isDirectory: true, owner: user, permissions: 0o700, magic: 0xEF53, device: nil)
        facts.linkOwner = 1001
        bench.base.setDirectory(StateBench.directory, facts)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: StateBench.directory)
        }
        #expect(error?.message.contains("symbolic link of another user (1001)") == true)
        bench.base.setDirectory(StateBench.directory, nil)
        for path in ["", "/nowhere/at/all", "/var/tmp/\0"] {
            let error = await #expect(throws: PressureError.self) { try await app.manager.restoreState(from: path) }
            #expect(error?.code == .stateDirectoryUnusable)
            let isWithoutParent = error?.errno == ENOENT
            #expect(isWithoutParent == path.hasPrefix("/nowhere"))
            #expect(error?.message.contains("Make the directory that it is to be in") == isWithoutParent)
        }
    }

    /// On the real bench.disk, with a real directory.
    @Test func theRealDiskDoesItToo() async throws {
        let directory = "/var/tmp/pressurekit-state-\(UInt64.random(in: 0 ... .max))"
        defer {
            for name in ["state", "state.new", "lock"] { _ = unsafe unlink("\(directory)/\(name)") }
            _ = unsafe rmdir(directory)
        }
        let value = makeBytes(1_000_000, seed: 3)
        do {
            let app = try App(LinuxFileSystem())
            _ = try app.news.cache("x", initialValue: value)
            _ = await app.manager.simulateMemoryWarning(.critical)
            try await app.manager.saveState(to: directory)
            let second = try App(LinuxFileSystem())
            let error = await #expect(throws: PressureError.self) { try await second.manager.saveState(to: directory) }
            #expect(error?.code == .stateDirectoryInUse)
        }
        var information = stat()
        #expect(unsafe stat(directory, &information) == 0)
        #expect(information.st_mode & 0o7777 == 0o700)
        let app = try App(LinuxFileSystem())
        try await app.manager.restoreState(from: directory)
        let cache = try app.news.cache("x", of: [UInt8].self)
        #expect(cache.residency == .spilled)
        #expect(try await cache.value() == value)
    }

    /// Somebody who has the lock's file as well, as a child has between fork and exec.
    @Test func theLockEndsWithItsHolderWhoeverElseHasTheFile() throws {
        let path = "/var/tmp/pressurekit-state-\(UInt64.random(in: 0 ... .max))"
        defer {
            _ = unsafe unlink("\(path)/lock")
            _ = unsafe rmdir(path)
        }
        var directory: StateDirectory? = try StateDirectory(path, fileSystem: LinuxFileSystem())
        let theirs = (0..<1024).first { number in
            var buffer = [CChar](repeating: 0, count: 4096)
            let length = unsafe readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
            return length > 0
                && String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) == "\(path)/lock"
        }
        let copy = dup(CInt(try #require(theirs)))
        defer { close(copy) }
        #expect(throws: PressureError.self) { try StateDirectory(path, fileSystem: LinuxFileSystem()) }
        withExtendedLifetime(directory) {}
        directory = nil
        _ = try StateDirectory(path, fileSystem: LinuxFileSystem())
    }
}
