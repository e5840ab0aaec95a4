import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// P6: any call may be made from any hook.
@Suite(.timeLimit(.minutes(15))) struct ReentrancyTests {
    final class Meddler: PressureControllerDelegate, PressureManagerDelegate {
        let calls = Lock<[String: Int]>([:])
        let meddle: @Sendable (String) -> Void

        init(_ meddle: @escaping @Sendable (String) -> Void) { self.meddle = meddle }

        private func called(_ name: String) {
            let depth = calls.withLock { calls in
                calls[name, default: 0] += 1
                return calls[name]!
            }
            // Once a hook, or hooks that cause themselves would never end.
            if depth == 1 { meddle(name) }
        }

        func didReceiveMemoryWarning(_ warning: MemoryWarning) { called("warning") }
        func resourceDidLoad(_ resource: PressureResource) { called("load") }
        func resourceWillEvict(_ resource: PressureResource) { called("willEvict") }
        func resourceDidEvict(_ resource: PressureResource) { called("didEvict") }
        func resourceDidRestore(_ resource: PressureResource) { called("restore") }
        func willAppear() { called("willAppear") }
        func didAppear() { called("didAppear") }
        func willDisappear() { called("willDisappear") }
        func didDisappear() { called("didDisappear") }
        func willMove(toParent parent: PressureController?) { called("willMove") }
        func didMove(toParent parent: PressureController?) { called("didMove") }
        func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { called("manager") }
        func managerDidEnterBackground() { called("background") }
        func managerWillEnterForeground() { called("foreground") }
    }

    static let hooks = [
        "warning", "load", "willEvict", "didEvict", "restore", "willAppear", "didAppear", "willDisappear",
        "didDisappear", "willMove", "didMove", "manager", "background", "foreground",
    ]

    @Test(arguments: hooks)
    func everyCallMayBeMadeFrom(_ hook: String) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let value = makeBytes(10_000, seed: 1)
        let mine = try controller.cache("mine", initialValue: value)
        let loaded = try controller.cache("loaded") { makeBytes(5000, seed: 2) }
        let remote = try controller.cache("remote") {
            await Task.yield()
            return makeBytes(5000, seed: 3)
        }
        let meddled = Gate()
        let meddler = Meddler { name in
            guard name == hook else { return }
            defer { meddled.open() }
            _ = try? mine.withValue { $0.count }
            _ = try? loaded.value()
            try? mine.update { $0[0] = 200 }
            try? loaded.invalidate()
            _ = try? loaded.value()
            try? mine.set(value)
            _ = remote.ifLoaded { $0.count }
            try? remote.invalidate()
            Task { try? await remote.set(makeBytes(5000, seed: 3)) }
            let child = PressureController("child")
            try? controller.addChild(child)
            _ = try? child.cache("extra", initialValue: [UInt8]([1, 2, 3]))
            child.removeFromParent()
            controller.appear()
            controller.disappear()
            if let cache = try? controller.cache("temporary", initialValue: [1] as [UInt8]) {
                controller.removeCache(cache)
            }
            _ = manager.snapshot()
            Task { await manager.simulateMemoryWarning(.critical) }
        }
        controller.delegate = meddler
        manager.delegate = meddler
        controller.appear()
        _ = try await loaded.value()
        _ = try await remote.value()
        _ = await manager.enterBackground()
        _ = await manager.enterForeground()
        _ = await manager.simulateMemoryWarning(.critical)
        _ = try await mine.value()
        controller.disappear()
        let other = PressureController("other")
        try manager.root.addChild(other)
        controller.removeFromParent()
        try other.addChild(controller)
        try #require(meddler.calls.withLock { $0[hook] ?? 0 } > 0, "\(hook) was never called")
        // The hook has a thread of its own, and may be between its update and its set.
        await meddled.pass()
        #expect(try await mine.value() == value)
        #expect(try await loaded.value() == makeBytes(5000, seed: 2))
        #expect(try await remote.value() == makeBytes(5000, seed: 3))
        await manager.shutdown()
    }
}
