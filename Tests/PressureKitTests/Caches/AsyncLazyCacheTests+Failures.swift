import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Loaders that fail, or wait for one another.
extension AsyncLazyCacheTests {
    @Test func aThrowingLoaderPassesItsErrorToEveryWaiterAndIsTriedAgain() async throws {
        let failures = Shared<[ResourceFailure]>([])
        let cache = try controller.cache("value") { [loads, gate] () async throws -> [UInt8] in
            let number = loads.change { count in
                count += 1
                return count
            }
            await gate.pass()
            if number == 1 { throw LoaderError(number: number) }
            return [9]
        }
        cache.onFailure { failure in
            failures.change { $0.append(failure) }
            return true
        }
        let readers = (0..<50).map { _ in Task { try await cache.value() } }
        await untilWaiting(50, for: cache)
        gate.open()
        for reader in readers { await #expect(throws: LoaderError(number: 1)) { try await reader.value } }
        #expect(loads.value == 1)
        // The readers wake first.
        while failures.value.isEmpty { await Task.yield() }
        #expect(failures.value.map(\.kind) == [.load])
        #expect(failures.value.map(\.resource.path) == ["app/value"])
        #expect(cache.residency == .unloaded)
        #expect(try await cache.value() == [9])
    }

    /// It climbs from the cache to the manager, as others do.
    @Test func aFailureThatNobodyHandlesClimbsToTheManager() async throws {
        final class Delegate: PressureManagerDelegate {
            let paths = Shared<[String]>([])
            func handle(_ failure: ResourceFailure) -> Bool {
                paths.change { $0.append(failure.resource.path) }
                return true
            }
        }
        let delegate = Delegate()
        manager.delegate = delegate
        let cache = try controller.cache("value") { [gate] () async throws -> [UInt8] in
            await gate.pass()
            throw LoaderError(number: 1)
        }
        gate.open()
        await #expect(throws: LoaderError(number: 1)) { try await cache.value() }
        // The reader wakes first.
        while delegate.paths.value.isEmpty { await Task.yield() }
        #expect(delegate.paths.value == ["app/value"])
    }

    /// A loader that reads its own cache would wait for itself, for ever: itself, in a child task, in a task that it
    /// waits for, through another cache.
    @Test(arguments: 0..<4) func aLoaderThatReadsItsOwnCacheIsToldSo(_ way: Int) async throws {
        let caches = Shared<[AsyncLazyCache<[UInt8]>]>([])
        let first = try controller.cache("first") { () async throws -> [UInt8] in
            let (first, second) = (caches.value[0], caches.value[1])
            switch way {
            case 0: return try await first.value()
            case 1:
                async let value = first.value()
                return try await value
            case 2: return try await Task { try await first.value() }.value
            default: return try await second.value()
            }
        }
        let second = try controller.cache("second") { () async throws -> [UInt8] in try await caches.value[0].value() }
        caches.set([first, second])
        let error = await #expect(throws: PressureError.self) { try await first.value() }
        #expect(error?.code == .recursiveAccess)
        // Of two that wait for each other, the one that begins to wait last is told.
        #expect(error?.path == "app/first" || way == 3 && error?.path == "app/second")
        caches.set([])
    }

    /// Loaders that wait for each other, each begun by somebody else: without a look at who waits for whom they would for
    /// ever. A ring of two, and of five.
    @Test(arguments: [2, 5]) func aCircleOfLoadersEndsInAnError(_ count: Int) async throws {
        let caches = Shared<[AsyncLazyCache<[UInt8]>]>([])
        let ring = try (0..<count).map { number in
            try controller.cache("\(number)") { [gate] () async throws -> [UInt8] in
                await gate.pass()
                return try await caches.value[(number + 1) % count].value()
            }
        }
        caches.set(ring)
        let readers = ring.map { cache in Task { try await cache.value() } }
        await gate.untilArrivals(count)
        gate.open()
        for reader in readers {
            let error = await #expect(throws: PressureError.self) { try await reader.value }
            #expect(error?.code == .recursiveAccess)
        }
        caches.set([])
    }

    /// A tree of loaders is none: many that wait for one, and one that waits for many.
    @Test func loadersMayReadOtherCaches() async throws {
        let leaves = try (0..<8).map { number in
            try controller.cache("leaf \(number)") { [gate] in
                await gate.pass()
                return [UInt8(number)]
            }
        }
        let tops = try (0..<4).map { number in
            try controller.cache("top \(number)") { () async throws -> [UInt8] in
                try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    for leaf in leaves { group.addTask { try await leaf.value() } }
                    return try await group.reduce(into: []) { $0 += $1 }.sorted()
                }
            }
        }
        let readers = tops.map { cache in Task { try await cache.value() } }
        await gate.untilArrivals(8)
        gate.open()
        for reader in readers { #expect(try await reader.value == Array(0..<8)) }
    }

    /// P6: the loader is called with nothing locked, so it may set the very value it is loading.
    @Test func aLoaderMaySetItsOwnCache() async throws {
        let slot = Shared<AsyncLazyCache<[UInt8]>?>(nil)
        let cache = try controller.cache("value") { () async throws -> [UInt8] in
            try await slot.value!.set([42])
            return [1]
        }
        slot.set(cache)
        // What was set came after the load began, so it is what readers see.
        #expect(try await cache.value() == [42])
        slot.set(nil)
    }
}
