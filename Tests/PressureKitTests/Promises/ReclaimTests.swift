import CAllocationCounter
import Glibc
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

/// P5, P8, P11 and P12: what a reclaim does and what it says about it.
@Suite(.timeLimit(.minutes(15))) struct ReclaimTests {
    /// P5: from planning to the last release, no thread of the reclaim allocates: clean and dirty, compressible and not,
    /// one chunk and many, one worker and several, with and without listeners.
    @Test(
        .enabled(if: pk_allocations_are_counted(), "malloc belongs to a sanitizer here"),
        arguments: [1, 3]
    )
    func reclaimAllocatesNothing(workers: Int) async throws {
        let manager = try makeCountingManager(workers: workers)
        let listener = Listener()
        manager.delegate = listener
        let events = manager.events
        let controller = try addController("app", to: manager.root)
        controller.delegate = listener
        let caches = try (0..<40).map { number -> LazyCache<PageBuffer> in
            let bytes = makeBytes(
                number.isMultiple(of: 8) ? 600_000 : 5000,
                seed: 1,
                randomBits: number % 2 == 0 ? 3 : 8
            )
            return try controller.cache("\(number)", initialValue: PageBuffer(bytes))
        }
        let dirty = await manager.simulateMemoryWarning(.critical)
        #expect(dirty.evicted.count == 40)
        #expect(dirty.allocations == 0)
        for cache in caches { try await cache.lease().value.withBytes { _ in } }
        let clean = await manager.simulateMemoryWarning(.critical)
        #expect(clean.evicted.count == 40)
        #expect(Set(clean.evicted.map(\.outcome)) == [.reused])
        #expect(clean.allocations == 0)
        #expect(listener.warnings.load(ordering: .relaxed) == 4)
        #expect(listener.evictions.load(ordering: .relaxed) == 80)
        withExtendedLifetime(events) {}
    }

    private final class Listener: PressureControllerDelegate, PressureManagerDelegate {
        let warnings = Atomic<Int>(0)
        let evictions = Atomic<Int>(0)
        func didReceiveMemoryWarning(_ warning: MemoryWarning) { warnings.wrappingAdd(1, ordering: .relaxed) }
        func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { warnings.wrappingAdd(1, ordering: .relaxed) }
        func resourceDidEvict(_ resource: PressureResource) { evictions.wrappingAdd(1, ordering: .relaxed) }
    }

    /// P5 in a process that has done nothing else: what the Swift runtime builds on first use is built before.
    @Test(.enabled(if: pk_allocations_are_counted(), "malloc belongs to a sanitizer here"))
    func theFirstReclaimOfAProcessAllocatesNothingEither() async {
        await #expect(processExitsWith: .success) {
            let manager = try makeCountingManager(workers: 2)
            let controller = try addController("app", to: manager.root)
            for number in 0..<20 {
                let bytes = makeBytes(number % 5 == 0 ? 600_000 : 5000, seed: 1, randomBits: number % 2 == 0 ? 3 : 8)
                _ = try controller.cache("\(number)", initialValue: PageBuffer(bytes))
            }
            let report = await manager.simulateMemoryWarning(.critical)
            #expect(report.evicted.count == 20)
            #expect(report.allocations == 0)
        }
    }

    /// P8: what is claimed is what the operating system gets back, for pages and for the C heap alike; a sanitizer's heap
    /// gives nothing back.
    @Test(.serialized, arguments: pk_allocations_are_counted() ? [true, false] : [true])
    func whatIsClaimedIsReturned(inPages: Bool) async throws {
        await #expect(processExitsWith: .success) { [inPages] in
            try await ReturnedMemory.measure(inPages: inPages)
        }
    }

    /// P11: the report says why, with the caller's words and levels.
    @Test func theReportSaysWhy() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.cause.origin == .simulated)
        #expect(report.cause.levelBefore == .normal)
        #expect(report.cause.levelAfter == .critical)
        #expect(report.cause.description == "normal → critical: simulated (simulateMemoryWarning)")
        let request = await manager.reclaim(.mebibytes(1))
        #expect(request.cause.origin == .request)
        #expect(request.goal == .mebibytes(1))
    }

    @Test func aGoalInBytesFreesNoMoreThanItNeeds() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let caches = try (0..<10).map {
            try controller.cache("\($0)", initialValue: makeBytes(10_000, seed: UInt64($0)))
        }
        let report = await manager.reclaim(.bytes(25_000))
        #expect(report.claimed == .bytes(30_000))
        // The least recently used ones.
        #expect(caches.map(\.isLoaded) == [false, false, false, true, true, true, true, true, true, true])
    }

    @Test func aWarningFreesItsShareAndACriticalOneEverything() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        for number in 0..<8 {
            _ = try controller.cache("\(number)", initialValue: makeBytes(10_000, seed: UInt64(number)))
        }
        #expect(await manager.simulateMemoryWarning(.warning).claimed == .bytes(20_000))
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .bytes(60_000))
        #expect(await manager.simulateMemoryWarning(.normal).claimed == .zero)
    }

    /// P12: a request that comes while a reclaim runs raises its target, and both get one report.
    @Test func aSecondRequestRaisesTheRunningOnesTarget() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let hook = HoldingDelegate()
        controller.delegate = hook
        for number in 0..<10 {
            _ = try controller.cache("\(number)", initialValue: makeBytes(10_000, seed: UInt64(number)))
        }
        async let first = manager.reclaim(.bytes(20_000))
        try await hook.reached()
        async let second = manager.reclaim(.bytes(50_000))
        // The second request has arrived once a third one, sent after it, has.
        while manager.pendingReplies < 2 { await Task.yield() }
        hook.release()
        let (one, two) = await (first, second)
        #expect(one.claimed == .bytes(50_000))
        #expect(two.claimed == .bytes(50_000))
        #expect(one.goal == .bytes(50_000))
        #expect(manager.snapshot().resident == .bytes(50_000))
    }

    /// Holds the reclaim thread inside the first eviction hook.
    private final class HoldingDelegate: PressureControllerDelegate {
        private let state = ConditionLock((reached: false, released: false))

        func resourceWillEvict(_ resource: PressureResource) {
            state.withLock { $0.reached = true }
            state.wait { $0.released ? () : nil }
        }

        func reached() async throws {
            try await BlockingPool.shared.run { [state] in state.wait { $0.reached ? () : nil } }
        }

        func release() { state.withLock { $0.released = true } }
    }
}

/// What the exit test runs in a process of its own, where nothing else moves resident memory.
enum ReturnedMemory {
    static func measure(inPages: Bool) async throws {
        let manager = try makeManager(workers: 2)
        let controller = try addController("app", to: manager.root)
        var pages: [LazyCache<PageBuffer>] = []
        var heap: [LazyCache<[UInt8]>] = []
        for number in 0..<512 {
            let bytes = makeBytes(65_536, seed: UInt64(number), randomBits: 8)
            if inPages {
                pages.append(try controller.cache("\(number)", initialValue: PageBuffer(bytes)))
            } else {
                heap.append(try controller.cache("\(number)", initialValue: bytes))
            }
        }
        let report = await manager.simulateMemoryWarning(.critical)
        precondition(report.evicted.count == 512)
        precondition(report.returnedOverClaimed >= 0.9, "\(report)")
        for number in 0..<512 {
            let bytes = makeBytes(65_536, seed: UInt64(number), randomBits: 8)
            if inPages {
                try pages[number].withValue { precondition($0 == PageBuffer(bytes)) }
            } else {
                try heap[number].withValue { precondition($0 == bytes) }
            }
        }
    }
}

/// A manager that counts what its reclaims allocate.
private func makeCountingManager(workers: Int) throws -> PressureManager {
    try makeManager(workers: workers) { configuration in
        configuration.allocationProbe = { Int(pk_thread_allocations()) }
        #if Encryption
        // The cipher's buffers are swift-crypto's, which allocates them.
        configuration.encryptsSpills = false
        #endif
    }
}
