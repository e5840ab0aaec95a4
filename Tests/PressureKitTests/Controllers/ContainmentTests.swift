import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct ContainmentTests {
    let manager: PressureManager

    init() throws { manager = try makeManager(fileSystem: InMemoryFileSystem()) }

    /// Adding fails with a code, and neither side has changed.
    private func expectRefusal(
        _ child: PressureController,
        by parent: PressureController,
        _ code: PressureError.Code,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (children, grandparent) = (parent.children, child.parent)
        let lines = HookLog.Lines()
        let log = HookLog("child", lines)
        child.delegate = log
        let error = #expect(throws: PressureError.self, sourceLocation: sourceLocation) { try parent.addChild(child) }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.message.isEmpty == false)
        #expect(parent.children.elementsEqual(children) { $0 === $1 }, sourceLocation: sourceLocation)
        #expect(child.parent === grandparent, sourceLocation: sourceLocation)
        #expect(lines.all == [], "no hook is called for what does not happen", sourceLocation: sourceLocation)
    }

    @Test func aTreeHasPaths() throws {
        let gallery = try addController("gallery", to: manager.root)
        let album = try addController("album", to: gallery)
        #expect(manager.root.path == "")
        #expect(album.path == "gallery/album")
        #expect(album.parent === gallery)
        #expect(gallery.children.map(\.identifier) == ["album"])
        #expect(try album.cache("x") { [UInt8]() }.path == "gallery/album/x")
    }

    /// Two of one name could swap their values when a saved state is restored.
    @Test func aSecondCacheOfANameIsRefused() throws {
        let album = try addController("album", to: manager.root)
        let first = try album.cache("x", initialValue: [1] as [UInt8])
        let attempts: [() throws -> Void] = [
            { _ = try album.cache("x", initialValue: [2] as [UInt8]) },
            { _ = try album.cache("x") { [UInt8]() } },
            { _ = try album.cache("x", of: String.self) },
            { _ = try album.keyedCache("x") { (_: Int) in [UInt8]() } },
            { _ = try album.keyedCache("x", key: Int.self, value: String.self) },
        ]
        for attempt in attempts {
            let error = #expect(throws: PressureError.self) { try attempt() }
            #expect(error?.code == .duplicateIdentifier && error?.path == "album")
        }
        #expect(manager.snapshot().controllers.flatMap(\.caches).map(\.path) == ["album/x"], "nothing was registered")
        #expect(try first.value() == [1])
        album.removeCache(first)
        #expect(try album.cache("x") { [3] as [UInt8] }.value() == [3], "the name is free again")
        #expect(try manager.root.cache("x") { [4] as [UInt8] }.value() == [4], "and never was taken elsewhere")
    }

    @Test func aCacheOfOneValueHasNoLimit() throws {
        for options in [CacheOptions(limit: .kibibytes(1)), CacheOptions(countLimit: 1)] {
            let error = #expect(throws: PressureError.self) { _ = try manager.root.cache("x", options: options) { "" } }
            #expect(error?.code == .invalidConfiguration)
            #expect(throws: PressureError.self) { _ = try manager.root.cache("x", of: String.self, options: options) }
        }
        #expect(manager.snapshot().controllers.flatMap(\.caches).isEmpty)
    }

    @Test func aSecondParentIsRefused() throws {
        let first = try addController("first", to: manager.root)
        let second = try addController("second", to: manager.root)
        let child = try addController("child", to: first)
        expectRefusal(child, by: second, .hierarchyInconsistency)
        expectRefusal(child, by: first, .hierarchyInconsistency)
    }

    @Test func aCycleIsRefused() throws {
        let top = PressureController("top")
        let middle = try addController("middle", to: top)
        let bottom = try addController("bottom", to: middle)
        expectRefusal(top, by: top, .hierarchyInconsistency)
        expectRefusal(top, by: middle, .hierarchyInconsistency)
        expectRefusal(top, by: bottom, .hierarchyInconsistency)
    }

    @Test func aRootIsNobodysChild() throws {
        let other = try makeManager(fileSystem: InMemoryFileSystem())
        expectRefusal(other.root, by: manager.root, .hierarchyInconsistency)
        expectRefusal(manager.root, by: manager.root, .hierarchyInconsistency)
        expectRefusal(manager.root, by: PressureController("loose"), .hierarchyInconsistency)
    }

    @Test func identifiersAreUniqueAmongSiblingsOnly() throws {
        let first = try addController("same", to: manager.root)
        expectRefusal(PressureController("same"), by: manager.root, .duplicateIdentifier)
        _ = try addController("same", to: first)
        first.removeFromParent()
        _ = try addController("same", to: manager.root)
        expectRefusal(first, by: manager.root, .duplicateIdentifier)
    }

    @Test(arguments: ["", "/", "a/b", "/a", "a/"])
    func anIdentifierIsOnePartOfAPath(_ identifier: String) {
        expectRefusal(PressureController(identifier), by: manager.root, .invalidConfiguration)
    }

    @Test func theChildIsToldBeforeAndAfter() throws {
        let lines = HookLog.Lines()
        let log = HookLog("child", lines)
        let child = PressureController("child")
        child.delegate = log
        let parent = try addController("parent", to: manager.root)
        try parent.addChild(child)
        child.removeFromParent()
        child.removeFromParent()
        #expect(
            lines.all == ["child.willMove parent", "child.didMove parent", "child.willMove nil", "child.didMove nil"]
        )
    }

    @Test func aDelegateIsNotRetained() throws {
        let controller = PressureController("app")
        controller.delegate = HookLog("gone", HookLog.Lines())
        manager.delegate = HookLog("gone", HookLog.Lines())
        #expect(controller.delegate == nil)
        #expect(manager.delegate == nil)
    }

    // MARK: Leaving the tree

    /// What was removed is warned and evicted no more, but its values stay where they are and can be used.
    @Test func removingTakesCachesOutOfReach() async throws {
        let controller = try addController("app", to: manager.root)
        let child = try addController("child", to: controller)
        let spilled = try child.cache("spilled", initialValue: makeBytes(10_000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        let pinned = try child.cache("pinned", initialValue: makeBytes(10_000, seed: 2))
        let lease = try await pinned.lease()
        controller.removeFromParent()
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.isEmpty && report.skipped.isEmpty)
        #expect(lease.value == makeBytes(10_000, seed: 2))
        #expect(spilled.residency == .spilled)
        #expect(try await spilled.value() == makeBytes(10_000, seed: 1))
        _ = consume lease
        try manager.root.addChild(controller)
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .bytes(20_000))
    }

    @Test func aRemovedCacheIsLeftAlone() async throws {
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(100, seed: 1))
        PressureController("other").removeCache(cache)
        controller.removeCache(cache)
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .zero)
        #expect(try await cache.value() == makeBytes(100, seed: 1))
    }

    /// The extents of a value that goes while it is spilled are free again.
    @Test(arguments: [false, true])
    func aCacheThatIsReleasedWhileSpilledGivesItsExtentsBack(inBackground: Bool) async throws {
        func spillSome() async throws {
            let controller = try addController("app", to: manager.root)
            controller.appear()
            let child = try addController("child", to: controller)
            _ = try child.cache("one", initialValue: makeBytes(300_000, seed: 1))
            let removed = try controller.cache("two", initialValue: makeBytes(10_000, seed: 2))
            _ = inBackground ? await manager.enterBackground() : await manager.simulateMemoryWarning(.critical)
            #expect(manager.snapshot().copied == .bytes(310_000))
            controller.removeCache(removed)
            controller.removeFromParent()
        }
        try await spillSome()
        #expect(manager.snapshot().copied == .zero)
        #expect(manager.snapshot().stored == .zero)
        #expect(await manager.enterForeground().restored.isEmpty)
    }

    /// Room in plans follows the caches there are, not those there ever were.
    @Test func cachesThatComeAndGoLeaveNothing() async throws {
        let controller = try addController("app", to: manager.root)
        for number in 0..<2000 {
            let child = try addController("child", to: controller)
            _ = try child.cache("\(number)", initialValue: [UInt8]([1, 2, 3]))
            child.removeFromParent()
            try controller.addChild(child)
            child.removeFromParent()
        }
        let cache = try controller.cache("last", initialValue: [UInt8]([1, 2, 3]))
        #expect(manager.context.engine.reservedValues < 10)
        #expect(await manager.simulateMemoryWarning(.critical).evicted.map(\.path) == ["app/last"])
        withExtendedLifetime(cache) {}
    }
}
