import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// Which hook is called when, and on whom.
@Suite(.timeLimit(.minutes(15))) struct HookTests {
    let manager: PressureManager
    let lines = HookLog.Lines()
    let logs: [HookLog]
    let a: PressureController
    let b: PressureController
    let c: PressureController

    /// The tree: a has the child b, which has the child c.
    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        a = try addController("a", to: manager.root)
        b = try addController("b", to: a)
        c = try addController("c", to: b)
        logs = [HookLog("manager", lines), HookLog("a", lines), HookLog("b", lines), HookLog("c", lines)]
        manager.delegate = logs[0]
        for (controller, log) in zip([a, b, c], logs.dropFirst()) { controller.delegate = log }
    }

    @Test func warningsGoFromTheManagerDownAndEvictionsFromTheBottomUp() async throws {
        for controller in [a, b, c] { _ = try controller.cache("x", initialValue: makeBytes(1000, seed: 1)) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(
            lines.all == [
                "manager.warning critical", "a.warning critical", "b.warning critical", "c.warning critical",
                "c.willEvict x", "c.didEvict x", "b.willEvict x", "b.didEvict x", "a.willEvict x", "a.didEvict x",
            ]
        )
    }

    @Test func aReclaimWithoutAWarningWarnsNobody() async throws {
        _ = try c.cache("x", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.reclaim(.bytes(1))
        #expect(lines.all == ["c.willEvict x", "c.didEvict x"])
    }

    /// Only what goes: not what is pinned, empty, away already or cannot be written.
    @Test func evictionHooksAreForWhatReallyGoes() async throws {
        let pinned = try a.cache("pinned", initialValue: makeBytes(1000, seed: 1))
        _ = try b.cache("unloaded") { makeBytes(1000, seed: 2) }
        _ = try c.cache("stays", initialValue: Coded(Double.nan, footprint: .bytes(10), coding: .json))
        _ = try c.cache("goes", initialValue: makeBytes(1000, seed: 3))
        let lease = try await pinned.lease()
        for _ in 0..<2 { _ = await manager.reclaim(.mebibytes(1)) }
        #expect(lines.all == ["c.willEvict goes", "c.didEvict goes"])
        withExtendedLifetime(lease) {}
    }

    @Test func loadsAndRestoresAreToldOnce() async throws {
        let loaded = try a.cache("loaded") { makeBytes(1000, seed: 1) }
        let mine = try b.cache("mine", initialValue: makeBytes(1000, seed: 2))
        for _ in 0..<2 { _ = (try await loaded.value(), try await mine.value()) }
        #expect(lines.all == ["a.didLoad loaded"])
        _ = await manager.reclaim(.bytes(2000))
        lines.clear()
        for _ in 0..<2 { _ = try await mine.value() }
        #expect(lines.all == ["b.didRestore mine"])
    }

    /// With a goal, hidden values go and visible ones stay; when everything goes, the visible are last.
    @Test func theVisibleGoLast() async throws {
        let left = try addController("left", to: manager.root)
        let right = try addController("right", to: manager.root)
        let visible = try left.cache("visible", initialValue: makeBytes(1000, seed: 1))
        let hidden = try right.cache("hidden", initialValue: makeBytes(1000, seed: 2))
        left.appear()
        // The hidden one was used last.
        _ = try await hidden.value()
        #expect(await manager.reclaim(.bytes(1000)).evicted.map(\.path) == ["right/hidden"])
        #expect(visible.isLoaded)
        _ = try await hidden.value()
        // Make both dirty, so that they are of one class but for being visible.
        try hidden.update { $0[0] = 1 }
        try visible.update { $0[0] = 1 }
        #expect(await manager.simulateMemoryWarning(.critical).evicted.map(\.path) == ["right/hidden", "left/visible"])
    }

    // MARK: Appearance

    @Test func appearanceGoesDownTheTree() {
        a.appear()
        #expect(
            lines.all == [
                "a.willAppear", "b.willAppear", "c.willAppear", "a.didAppear", "b.didAppear", "c.didAppear",
            ]
        )
        #expect([a, b, c].map(\.isVisible) == [true, true, true])
        #expect(!manager.root.isVisible)
        lines.clear()
        a.appear()
        #expect(lines.all == [])
        b.disappear()
        #expect(lines.all == ["b.willDisappear", "c.willDisappear", "b.didDisappear", "c.didDisappear"])
        #expect([a, b, c].map(\.isVisible) == [true, false, false])
    }

    @Test func whoDoesNotForwardShowsOnlyItself() {
        b.forwardsAppearance = false
        a.appear()
        #expect([a, b, c].map(\.isVisible) == [true, true, false])
        c.appear()
        lines.clear()
        a.disappear()
        #expect(lines.all == ["a.willDisappear", "b.willDisappear", "a.didDisappear", "b.didDisappear"])
        #expect(c.isVisible)
    }

    @Test func onlyWhatChangesIsTold() {
        c.appear()
        lines.clear()
        a.appear()
        #expect(lines.all == ["a.willAppear", "b.willAppear", "a.didAppear", "b.didAppear"])
    }
}
