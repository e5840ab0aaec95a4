import Foundation
import Glibc
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// P7: however the process ends, no spill file stays behind. P9: spilling to memory is refused.
@Suite(.timeLimit(.minutes(15))) struct NothingLeftTests {
    /// A directory of one's own on a disk.
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let url = URL(
            filePath: "/var/tmp/pressurekit-test-\(UInt64.random(in: 0..<(.max)))",
            directoryHint: .isDirectory
        )
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(url.path)
    }

    private func names(in directory: String) -> [String]? {
        try? FileManager.default.contentsOfDirectory(atPath: directory)
    }

    @Test(arguments: [SIGKILL, SIGTERM, SIGSEGV])
    func aProcessThatIsKilledLeavesNoFile(signal: CInt) async throws {
        try await withDirectory { directory in
            await #expect(processExitsWith: .signal(signal)) {
                [directory = directory as String, signal = signal as CInt] in
                let manager = try makeManager { $0.spillDirectory = directory }
                let controller = try addController("app", to: manager.root)
                let cache = try controller.cache("mine", initialValue: makeBytes(1 << 20, seed: 1, randomBits: 8))
                _ = await manager.simulateMemoryWarning(.critical)
                precondition(cache.residency == .spilled)
                precondition((manager.snapshot().spillFile ?? .zero) >= .mebibytes(1))
                // In case the signal is handled: end by it all the same.
                Glibc.signal(signal, SIG_DFL)
                kill(getpid(), signal)
                pause()
            }
            #expect(names(in: directory) == [])
        }
    }

    @Test func noNameIsEverSeen() async throws {
        try await withDirectory { directory in
            let manager = try makeManager { $0.spillDirectory = directory }
            let controller = try addController("app", to: manager.root)
            _ = try controller.cache("mine", initialValue: makeBytes(100_000, seed: 1))
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(names(in: directory) == [])
        }
    }

    @Test func spillingToMemoryIsRefusedUnlessForcedAndCountedThen() async throws {
        let error = #expect(throws: PressureError.self) {
            try makeManager { $0.spillDirectory = "/dev/shm" }
        }
        #expect(error?.code == .spillDirectoryInMemory)
        #expect(error?.message.contains("/var/tmp") == true)
        let manager = try makeManager {
            $0.spillDirectory = "/dev/shm"
            $0.allowsMemoryBackedSpill = true
        }
        let controller = try addController("app", to: manager.root)
        _ = try controller.cache("mine", initialValue: makeBytes(100_000, seed: 1))
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.stored > .zero)
        #expect(report.heldInMemoryBackedStorage == report.stored)
    }

    @Test(arguments: ["/nonexistent/pressurekit", "/proc", "/etc/hostname", ""])
    func anUnusableDirectorySaysSoAndWhatToSet(_ directory: String) throws {
        let error = #expect(throws: PressureError.self) { try makeManager { $0.spillDirectory = directory } }
        #expect(error?.code == .spillDirectoryUnusable)
        #expect(error?.message.contains("/var/tmp") == true || error?.message.contains("Set a spill directory") == true)
    }
}

/// A manager that is released leaves nothing of its own behind in the process.
@Suite struct ReleasedManagerTests {
    @Test(arguments: [false, true]) func aManagerIsReleasedWithItsTree(isShutDown: Bool) async throws {
        weak var root: PressureController?
        weak var child: PressureController?
        do {
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            let controller = try addController("app", to: manager.root)
            let cache = try controller.cache("value", initialValue: makeBytes(10_000, seed: 1))
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(try await cache.value() == makeBytes(10_000, seed: 1))
            (root, child) = (manager.root, controller)
            if isShutDown { await manager.shutdown() }
        }
        // The reclaim thread keeps the tree until it has noticed.
        for _ in 0..<1000 where root != nil || child != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(root == nil)
        #expect(child == nil)
    }
}
