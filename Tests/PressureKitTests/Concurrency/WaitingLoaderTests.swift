import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import PressureSystem

/// P6: a loader may ask for any other cache, and wait for it in any way, its thread included.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WaitingLoaderTests {
    let controller = PressureController("app")

    /// Blocks the calling thread until async work is done, as an app does that has no other way.
    static func wait<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws -> Result {
        let done = ConditionLock<Swift.Result<Result, any Error>?>(nil)
        Task {
            do {
                let value = try await work()
                done.withLock { $0 = .success(value) }
            } catch {
                done.withLock { $0 = .failure(error) }
            }
        }
        return try done.wait { $0 }.get()
    }

    /// Three times as many readers as there are threads for loaders, each of whom has one wait, three caches deep.
    @Test(arguments: LoaderKind.allCases) func loadersMayBlockUntilAsyncAccessesAreDone(_ kind: LoaderKind) async throws
    {
        let bottom = try controller.keyedCache("bottom", kind) { [UInt8(truncatingIfNeeded: $0)] }
        let middle = try controller.keyedCache("middle") { (key: Int) throws -> [UInt8] in
            try Self.wait { try await bottom.value(key) } + [1]
        }
        let top = try controller.keyedCache("top") { (key: Int) throws -> [UInt8] in
            try Self.wait { try await middle.value(for: key) } + [2]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in 0..<200 {
                group.addTask {
                    let value = try await top.value(for: key)
                    #expect(value == [UInt8(truncatingIfNeeded: key), 1, 2])
                }
            }
            try await group.waitForAll()
        }
        #expect(LoadWaits.count == 0)
    }

    /// What others have begun, and what it asks for in turn, gets through to those who join it: a blocking loader, and
    /// one that suspends.
    @Test(arguments: LoaderKind.allCases) func loadersMayWaitForWhatOthersHaveBegun(_ kind: LoaderKind) async throws {
        let (inside, gate) = (Shared(0), Gate())
        let file = try controller.keyedCache("file") { (key: Int) throws -> [UInt8] in [UInt8(truncatingIfNeeded: key)]
        }
        let shared: @Sendable () async throws -> [UInt8]
        switch kind {
        case .blocking:
            let cache = try controller.cache("shared") { () throws -> [UInt8] in
                try Self.wait {
                    await gate.pass()
                    return try await file.value(for: 1)
                }
            }
            shared = { try await cache.value() }
        case .suspending:
            let cache = try controller.cache("shared") { () async throws -> [UInt8] in
                await gate.pass()
                return try await file.value(for: 1)
            }
            shared = { try await cache.value() }
        }
        let middle = try controller.keyedCache("middle") { (key: Int) throws -> [UInt8] in
            inside.change { $0 += 1 }
            return try Self.wait { try await shared() }
        }
        let top = try controller.keyedCache("top") { (key: Int) throws -> [UInt8] in
            try Self.wait { try await middle.value(for: key) }
        }
        let first = Task { try await shared() }
        await gate.untilArrivals(1)
        let readers = (0..<200).map { key in Task { try await top.value(for: key) } }
        // All threads for loaders wait by now, through those of the next lane, for the one that has begun before them.
        while inside.value < 60 { await Task.yield() }
        gate.open()
        #expect(try await first.value == [1])
        for reader in readers { #expect(try await reader.value == [1]) }
    }

    @Test func loadersMayWaitForManyAtOnce() async throws {
        let leaves = try controller.keyedCache("leaves") { (key: Int) throws -> [UInt8] in
            try Self.wait {
                await Task.yield()
                return [UInt8(truncatingIfNeeded: key)]
            }
        }
        let branches = try controller.keyedCache("branches") { (key: Int) throws -> [UInt8] in
            try Self.wait { try await leaves.values(for: key..<key + 32).values.reduce([], +).sorted() }
        }
        let trees = try controller.keyedCache("trees") { (key: Int) async throws -> [UInt8] in
            try await branches.values(for: (0..<8).map { key * 64 + $0 }, atMost: 8).values.reduce([], +)
        }
        let found = try await trees.values(for: 0..<100, atMost: 100)
        #expect(found.count == 100 && found.values.allSatisfy { $0.count == 8 * 32 })
    }

    /// Without a task in between nothing takes another thread, however deep it goes.
    @Test func synchronousLoadersMayReadEachOther() async throws {
        let caches = Shared<[KeyedCache<Int, [UInt8]>]>([])
        let cache = try controller.keyedCache("numbers") { (key: Int) throws -> [UInt8] in
            let rest = key % 1000 == 0 ? [] : try caches.value[0].value(for: key - 1)
            return rest + [UInt8(truncatingIfNeeded: key)]
        }
        caches.set([cache])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<200 {
                group.addTask {
                    let count = try await cache.value(for: reader * 1000 + 100).count
                    #expect(count == 101)
                }
            }
            try await group.waitForAll()
        }
        caches.set([])
    }

    // MARK: Circles

    /// A circle of 1 to 3 loaders, each in its way: told with the names, whatever is in between.
    @Test(arguments: [1, 2, 3], [true, false]) func aCircleIsToldByName(_ count: Int, isAsked: Bool) async throws {
        let caches = Shared<[KeyedCache<Int, [UInt8]>]>([])
        let cache = try controller.keyedCache("ring") { (key: Int) throws -> [UInt8] in
            let next = key % count + 1
            return isAsked
                ? try Self.wait { try await caches.value[0].value(for: next) } : try caches.value[0].value(for: next)
        }
        caches.set([cache])
        let error = await #expect(throws: PressureError.self) { try await cache.value(for: 1) }
        #expect(error?.code == .recursiveAccess)
        let ring = ((1...count) + [1]).map { "app/ring[\($0)]" }.joined(separator: " → ")
        #expect(error?.message.contains(ring) == true, "\(error?.message ?? "")")
        #expect(error?.path == "app/ring[1]")
        #expect(LoadWaits.count == 0)
        caches.set([])
    }

    /// Begun by different readers, of whom none is inside of another one's; a blocking loader and one that suspends.
    @Test func loadersThatMeetInACircleAreTold() async throws {
        let gate = Gate()
        let suspending = Shared<AsyncLazyCache<[UInt8]>?>(nil)
        let blocking = try controller.cache("blocking") { () throws -> [UInt8] in
            try Self.wait {
                await gate.pass()
                return try await suspending.value!.value()
            }
        }
        let other = try controller.cache("suspending") { () async throws -> [UInt8] in
            await gate.pass()
            return try await blocking.value()
        }
        suspending.set(other)
        let readers = [Task { try await blocking.value() }, Task { try await other.value() }]
        await gate.untilArrivals(2)
        gate.open()
        for reader in readers {
            let error = await #expect(throws: PressureError.self) { try await reader.value }
            #expect(error?.code == .recursiveAccess)
            #expect(error?.message.contains("app/blocking → app/suspending") == true)
        }
        suspending.set(nil)
    }

    /// A recursion that takes a thread for every step ends in an error; one with an end, and not too deep, in a value.
    @Test func recursionWithoutAnEndIsTold() async throws {
        let caches = Shared<[KeyedCache<Int, [UInt8]>]>([])
        let cache = try controller.keyedCache("steps") { (key: Int) throws -> [UInt8] in
            key == 0 ? [] : try Self.wait { try await caches.value[0].value(for: key - 1) } + [1]
        }
        caches.set([cache])
        #expect(try await cache.value(for: 15).count == 15)
        let error = await #expect(throws: PressureError.self) { try await cache.value(for: 1_000_000) }
        #expect(error?.code == .recursiveAccess)
        #expect(error?.message.contains("app/steps[1000000] → app/steps[999999] → ") == true)
        caches.set([])
    }

    /// What a loader has begun may outlive it: it is inside of nothing then, as deep as it may have come from.
    @Test func tasksOutliveTheLoadersThatBeganThem() async throws {
        let caches = Shared<[KeyedCache<Int, [UInt8]>]>([])
        let cache = try controller.keyedCache("pages") { (key: Int) throws -> [UInt8] in
            if key < 100 {
                Task {
                    while caches.value[0].residency(for: key) != .resident { await Task.yield() }
                    _ = try await caches.value[0].value(for: key + 1)
                    // Its own page again.
                    caches.value[0].invalidate(for: key)
                    _ = try await caches.value[0].value(for: 1000 + key)
                    caches.value[1].set([], for: key)
                }
            }
            return [UInt8(truncatingIfNeeded: key)]
        }
        let done = try controller.keyedCache("done", key: Int.self, value: [UInt8].self)
        caches.set([cache, done])
        _ = try await cache.value(for: 0)
        while done.count < 100 { await Task.yield() }
        caches.set([])
    }

    // MARK: Threads

    /// As many loaders at a time as the app wants.
    @Test func theNumberOfThreadsIsTheApps() async throws {
        #expect(PressureManager.loaderThreads == 64)
        PressureManager.loaderThreads = 100
        defer { PressureManager.loaderThreads = 64 }
        let inside = Shared(0)
        let gate = ConditionLock(false)
        let cache = try controller.keyedCache("stuck") { (key: Int) throws -> [UInt8] in
            inside.change { $0 += 1 }
            gate.wait { $0 ? () : nil }
            return []
        }
        let readers = (0..<120).map { key in Task { try await cache.value(for: key) } }
        while inside.value < 100 { await Task.yield() }
        for _ in 0..<1000 { await Task.yield() }
        #expect(inside.value == 100)
        gate.withLock { $0 = true }
        for reader in readers { _ = try await reader.value }
        PressureManager.loaderThreads = 0
        #expect(PressureManager.loaderThreads == 1)
    }

    /// What the library cannot see, it says: with its threads, and how many wait.
    @Test func aJobThatWaitsForLongSaysSo() async throws {
        let pool = BlockingPool(threads: 1, most: 2, patience: .milliseconds(1), silence: .milliseconds(1))
        let gate = ConditionLock(false)
        let said = ConditionLock<[Int]?>(nil)
        let jobs = (0..<5).map { _ in
            Task {
                try await pool.run(stuck: { threads, waiting in said.withLock { $0 = [threads, waiting] } }) {
                    gate.wait { $0 ? () : nil }
                }
            }
        }
        let figures = try await BlockingPool.errands.run { said.wait { $0 } }
        #expect(figures[0] == 2 && 1...3 ~= figures[1])
        gate.withLock { $0 = true }
        for job in jobs { try await job.value }
    }
}
