import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

/// A save waits for no reclaim, takes copies over as they lie, and brings nothing into memory that memory is short of.
@Suite(.timeLimit(.minutes(5))) struct SavingUnderPressureTests {
    private static let directory = "/var/tmp/state"

    private func bytes(_ key: Int) -> [UInt8] { makeBytes(20_000, seed: UInt64(key)) }

    @Test(arguments: LoaderKind.allCases) func whatIsSpilledStaysThere(_ kind: LoaderKind) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("documents", kind) { [self] in bytes($0) }
        for key in 0..<20 { await cache.set(bytes(key), key) }
        _ = await manager.simulateMemoryWarning(.critical)
        for key in 0..<4 { _ = try await cache.value(key) }
        let before = cache.statistics()
        let report = try await manager.saveState(to: Self.directory)
        #expect(report.failures.isEmpty)
        for key in 0..<20 { #expect(cache.residency(key) == (key < 4 ? .resident : .spilled)) }
        #expect(cache.statistics().restores == before.restores)
        for key in 4..<20 { cache.invalidate(key) }
        try await manager.restoreState(from: Self.directory)
        #expect(cache.count() == 20)
        for key in 0..<20 { #expect(try await cache.value(key) == bytes(key)) }
        await manager.shutdown()
    }

    /// A reclaim that hangs in the middle of a write: what is being written is saved, and what is spilled already.
    @Test func aReclaimThatHangsHoldsUpNoSave() async throws {
        let disk = FaultyFileSystem(InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.workers = 1 }
        let controller = try addController("app", to: manager.root)
        let documents = try controller.keyedCache("documents", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { documents.set(bytes(key), for: key) }
        _ = await manager.simulateMemoryWarning(.critical)
        for key in 20..<30 { documents.set(bytes(key), for: key) }
        let index = try controller.cache("index", initialValue: bytes(100))

        let gate = ConditionLock((isHeld: false, isOpen: false))
        disk.setInterceptor { call in
            guard call == .write else { return }
            let isFirst = gate.withLock { state in
                defer { state.isHeld = true }
                return !state.isHeld
            }
            if isFirst { gate.wait { $0.isOpen ? () : nil } }
        }
        let reclaim = Task { await manager.simulateMemoryWarning(.critical) }
        try await BlockingPool.errands.run { gate.wait { $0.isHeld ? () : nil } }
        let report = try await manager.saveState(to: Self.directory)
        #expect(report.failures.isEmpty)
        #expect(manager.snapshot().admission.waited == .zero)
        #expect(documents.statistics.restores == 0)
        gate.withLock { $0.isOpen = true }
        _ = await reclaim.value
        disk.setInterceptor(nil)

        documents.removeAll()
        try index.set([])
        try await manager.restoreState(from: Self.directory)
        for key in 0..<30 { #expect(try await documents.value(for: key) == bytes(key)) }
        #expect(try await index.value() == bytes(100))
        await manager.shutdown()
    }

    /// A value that somebody restores is saved when they have it, and keeps nobody else's waiting.
    @Test func whoeverRestoresMeanwhileIsWaitedForLast() async throws {
        let disk = FaultyFileSystem(InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager.root)
        let documents = try controller.keyedCache("documents", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { documents.set(bytes(key), for: key) }
        _ = await manager.simulateMemoryWarning(.critical)
        let gate = ConditionLock((isHeld: false, isOpen: false, reads: 0))
        disk.setInterceptor { call in
            guard call == .read else { return }
            let isFirst = gate.withLock { state in
                defer { state.isHeld = true }
                state.reads += 1
                return !state.isHeld
            }
            if isFirst { gate.wait { $0.isOpen ? () : nil } }
        }
        let reader = Task { try await documents.value(for: 7) }
        try await BlockingPool.errands.run { gate.wait { $0.isHeld ? () : nil } }
        let save = Task { try await manager.saveState(to: Self.directory) }
        // All the others have been read by then, and the reader's is still being read.
        try await BlockingPool.errands.run { gate.wait { $0.reads >= 20 ? () : nil } }
        gate.withLock { $0.isOpen = true }
        #expect(try await reader.value == bytes(7))
        #expect(try await save.value.failures.isEmpty)
        disk.setInterceptor(nil)
        documents.removeAll()
        try await manager.restoreState(from: Self.directory)
        for key in 0..<20 { #expect(try await documents.value(for: key) == bytes(key)) }
        await manager.shutdown()
    }
}
