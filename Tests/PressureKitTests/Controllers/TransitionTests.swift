import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Changing children, moving them, budgets, and failures that climb.
@Suite(.timeLimit(.minutes(15))) struct TransitionTests {
    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let parent: PressureController
    let map: PressureController
    let list: PressureController
    let lines = HookLog.Lines()
    let logs: [HookLog]

    init() throws {
        manager = try makeManager(fileSystem: disk)
        parent = try addController("parent", to: manager.root)
        map = try addController("map", to: parent)
        list = try addController("list", to: parent)
        logs = [HookLog("map", lines), HookLog("list", lines), HookLog("parent", lines)]
        (map.delegate, list.delegate, parent.delegate) = (logs[0], logs[1], logs[2])
    }

    // MARK: transition(from:to:)

    @Test func theIncomingIsRestoredBeforeTheOutgoingIsHidden() async throws {
        let tiles = try list.cache("tiles", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.reclaim(.bytes(1000))
        map.appear()
        lines.clear()
        lines.on("list.didRestore tiles") { [map] in
            #expect(map.isVisible, "still among the last to be evicted")
        }
        let report = try await parent.transition(from: map, to: list)
        #expect(
            lines.take() == [
                "map.willDisappear", "list.willAppear", "list.didRestore tiles", "list.didAppear", "map.didDisappear",
            ]
        )
        #expect(report.restored.map(\.path) == ["parent/list/tiles"])
        #expect(tiles.isLoaded && list.isVisible)
        #expect([map.isVisible, list.isVisible] == [false, true])
    }

    @Test func aTransitionNeedsTwoChildrenOfItsOwn() async throws {
        let stranger = try addController("stranger", to: manager.root)
        map.appear()
        lines.clear()
        for (from, to) in [(map, map), (map, stranger), (stranger, map)] {
            let error = await #expect(throws: PressureError.self) { try await parent.transition(from: from, to: to) }
            #expect(error?.code == .hierarchyInconsistency)
        }
        #expect(lines.take() == [])
        #expect(map.isVisible)
    }

    @Test func hiddenChildrenAreChangedSilently() async throws {
        try await parent.transition(from: map, to: list)
        #expect(lines.take() == [])
        #expect(!list.isVisible)
    }

    // MARK: Moving

    @Test func aSubtreeMovesInOneStep() async throws {
        let tiles = try addController("tiles", to: map)
        let cache = try tiles.cache("x", initialValue: makeBytes(1000, seed: 1))
        let lease = try await cache.lease()
        lines.clear()
        try map.move(to: list)
        #expect(lines.take() == ["map.willMove list", "map.didMove list"])
        #expect(cache.path == "parent/list/map/tiles/x")
        #expect(parent.children.map(\.identifier) == ["list"])
        #expect(await manager.simulateMemoryWarning(.critical).skipped.map(\.reason) == [.pinned])
        for destination in [map, tiles] {
            let error = #expect(throws: PressureError.self) { try map.move(to: destination) }
            #expect(error?.code == .hierarchyInconsistency)
        }
        #expect(map.parent === list)
        try map.move(to: list)
        withExtendedLifetime(lease) {}
    }

    /// Values in use stay so when their subtree leaves, and leave with nobody's help when they are not.
    @Test func removalWithLivePins() async throws {
        let cache = try map.cache("x", initialValue: makeBytes(1000, seed: 1))
        let lease = try await cache.lease()
        map.removeFromParent()
        #expect(lease.value == makeBytes(1000, seed: 1))
        #expect(await manager.simulateMemoryWarning(.critical).skipped.isEmpty)
        _ = consume lease
        try parent.addChild(map)
        #expect(await manager.simulateMemoryWarning(.critical).evicted.map(\.path) == ["parent/map/x"])
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
    }

    /// A hook that moves what is still to be told: nobody hears twice.
    @Test func aWarningReachesEveryoneOnceWhateverHooksMove() async throws {
        let below = try addController("below", to: list)
        let log = HookLog("below", lines)
        below.delegate = log
        lines.on("parent.warning critical") { [map, list] in try? list.move(to: map) }
        lines.on("list.warning critical") { [below, parent] in try? below.move(to: parent) }
        lines.clear()
        _ = await manager.simulateMemoryWarning(.critical)
        let warned = lines.take().filter { $0.contains("warning") }
        #expect(warned.sorted() == ["below", "list", "map", "parent"].map { "\($0).warning critical" })
    }

    // MARK: Budgets

    @Test func aBudgetReclaimsWithinItsSubtreeOnly() async throws {
        let outside = try list.cache("outside", initialValue: makeBytes(5000, seed: 1))
        map.budget = .bytes(5000)
        let caches = try (0..<10).map { try map.cache("\($0)", initialValue: makeBytes(1000, seed: UInt64($0))) }
        #expect(map.residentByteCount <= .bytes(5000))
        #expect(caches.filter(\.isLoaded).count == 4, "a sixteenth is free again")
        #expect(caches.suffix(4).map(\.isLoaded) == [true, true, true, true], "the least recently used ones went")
        #expect(outside.isLoaded)
        for (seed, cache) in caches.enumerated() {
            #expect(try await cache.value() == makeBytes(1000, seed: UInt64(seed)))
            #expect(map.residentByteCount <= .bytes(5000))
        }
        #expect(outside.isLoaded)
        map.budget = nil
        for cache in caches { try cache.loadIfNeeded() }
        #expect(map.residentByteCount == .bytes(10_000))
        map.budget = .bytes(2000)
        #expect(map.residentByteCount <= .bytes(2000))
    }

    @Test func aBudgetCountsWhatIsBelowAndKeyedValuesAndSparesWhatIsInUse() async throws {
        parent.budget = .bytes(4000)
        let keyed = try map.keyedCache("keyed") { (key: Int) in makeBytes(1000, seed: UInt64(key)) }
        let held = try list.cache("held", initialValue: makeBytes(3500, seed: 1))
        let lease = try await held.lease()
        for key in 0..<8 { #expect(try await keyed.value(for: key) == makeBytes(1000, seed: UInt64(key))) }
        #expect(held.isLoaded)
        #expect(parent.residentByteCount <= .bytes(4500))
        withExtendedLifetime(lease) {}
    }

    // MARK: Failures

    private struct Broken: Error {}

    @Test func aFailureClimbsUntilSomebodyHandlesIt() async throws {
        final class Handler: PressureControllerDelegate, PressureManagerDelegate {
            let name: String
            let handles: Bool
            let lines: HookLog.Lines
            init(_ name: String, _ lines: HookLog.Lines, handles: Bool = false) {
                (self.name, self.lines, self.handles) = (name, lines, handles)
            }
            func handle(_ failure: ResourceFailure) -> Bool {
                lines.add("\(name) \(failure.kind) \(failure.resource.name)")
                return handles
            }
        }
        var handlers = [Handler("map", lines), Handler("parent", lines), Handler("manager", lines)]
        (map.delegate, parent.delegate, manager.delegate) = (handlers[0], handlers[1], handlers[2])
        let broken = try map.cache("broken") { () throws -> [UInt8] in throw Broken() }
        broken.onFailure { [lines] failure in
            lines.add("cache \(failure.kind)")
            return false
        }
        _ = try? broken.loadIfNeeded()
        #expect(lines.take() == ["cache load", "map load broken", "parent load broken", "manager load broken"])
        handlers[1] = Handler("parent", lines, handles: true)
        parent.delegate = handlers[1]
        _ = try? broken.loadIfNeeded()
        #expect(lines.take() == ["cache load", "map load broken", "parent load broken"])
        broken.onFailure { _ in true }
        _ = try? broken.loadIfNeeded()
        #expect(lines.take() == [])

        let mine = try map.cache("mine", initialValue: makeBytes(1000, seed: 1))
        disk.set(.init(.error(EIO), on: .write))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(lines.take().filter { $0.contains("spill") } == ["map spill mine", "parent spill mine"])
        #expect(mine.isLoaded)
        disk.set(nil)
        try mine.update { $0[0] = 1 }
        let other = try list.cache("other", initialValue: makeBytes(1000, seed: 2))
        withExtendedLifetime(other) {}
    }

    @Test func aRestoreThatFailsClimbsToo() async throws {
        let mine = try map.cache("mine", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.reclaim(.bytes(1000))
        let seen = Lock<[String]>([])
        mine.onFailure { failure in
            seen.withLock { $0.append("\(failure.kind) \(failure.resource.path)") }
            return true
        }
        disk.set(.init(.error(EIO), on: .read))
        let events = manager.events
        await #expect(throws: PressureError.self) { try await mine.value() }
        #expect(seen.withLock { $0 } == ["restore parent/map/mine"])
        disk.set(nil)
        #expect(try await mine.value() == makeBytes(1000, seed: 1))
        await manager.shutdown()
        for await event in events {
            if case .failure = event { Issue.record("it was handled") }
        }
    }
}
