import Foundation
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// No hook is called with a lock held: whatever it does, and whatever other threads do while it lasts, nobody waits.
@Suite(.timeLimit(.minutes(15))) struct HookFreedomTests {
    private struct Broken: Error {}

    /// A delegate that, from inside the first call of one hook, does everything, on its own thread and on another one
    /// that it waits for.
    final class Everything: PressureControllerDelegate, PressureManagerDelegate {
        let hook: String
        let action = Lock<(@Sendable () -> Void)?>(nil)
        let calls = Lock(0)

        init(_ hook: String) { self.hook = hook }

        private func called(_ name: String) {
            guard name == hook else { return }
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst, let action = action.withLock({ $0 }) else { return }
            action()
            let done = ConditionLock(false)
            Thread.detachNewThread {
                action()
                done.withLock { $0 = true }
            }
            done.wait { $0 ? () : nil }
        }

        func shouldEvict(_ resource: PressureResource) -> Bool {
            called("shouldEvict")
            return true
        }
        func preferredDisposition(for resource: PressureResource) -> Disposition? {
            called("preferredDisposition")
            return nil
        }
        func didReceiveMemoryWarning(_ warning: MemoryWarning) { called("didReceiveMemoryWarning") }
        func evictionWillBegin(_ cause: PressureCause) { called("evictionWillBegin") }
        func evictionIsUnderWay(_ cause: PressureCause) { called("evictionIsUnderWay") }
        func evictionDidEnd(_ report: EvictionReport) { called("evictionDidEnd") }
        func resourceWillEvict(_ resource: PressureResource) { called("resourceWillEvict") }
        func resourceDidEvict(_ resource: PressureResource) { called("resourceDidEvict") }
        func resourceDidLoad(_ resource: PressureResource) { called("resourceDidLoad") }
        func resourceDidRestore(_ resource: PressureResource) { called("resourceDidRestore") }
        func handle(_ failure: ResourceFailure) -> Bool {
            called("handle")
            return true
        }
        func levelDidChange(_ cause: PressureCause) { called("levelDidChange") }
        func willAppear() { called("willAppear") }
        func didAppear() { called("didAppear") }
        func willDisappear() { called("willDisappear") }
        func didDisappear() { called("didDisappear") }
        func willMove(toParent parent: PressureController?) { called("willMove") }
        func didMove(toParent parent: PressureController?) { called("didMove") }
        func encodeRestorableState(into coder: inout StateCoder) { called("encodeRestorableState") }
        func decodeRestorableState(from coder: StateCoder) { called("decodeRestorableState") }
        func didFinishRestoringState() { called("didFinishRestoringState") }
        func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { called("managerDidReceiveMemoryWarning") }
        func managerDidChangeLevel(_ cause: PressureCause) { called("managerDidChangeLevel") }
        func managerDidEnterBackground() { called("managerDidEnterBackground") }
        func managerWillEnterForeground() { called("managerWillEnterForeground") }
        func shouldSaveState() -> Bool {
            called("shouldSaveState")
            return true
        }
        func shouldRestoreState(savedBy saved: String, version: String) -> Bool {
            called("shouldRestoreState")
            return true
        }
        func controller(forRestoring path: String, coder: StateCoder) -> PressureController? {
            called("controller(forRestoring:coder:)")
            return nil
        }
    }

    static let hooks = [
        "shouldEvict", "preferredDisposition", "didReceiveMemoryWarning", "evictionWillBegin", "evictionIsUnderWay",
        "evictionDidEnd", "resourceWillEvict", "resourceDidEvict", "resourceDidLoad", "resourceDidRestore", "handle",
        "levelDidChange", "willAppear", "didAppear", "willDisappear", "didDisappear", "willMove", "didMove",
        "encodeRestorableState", "decodeRestorableState", "didFinishRestoringState", "managerDidReceiveMemoryWarning",
        "managerDidChangeLevel", "managerDidEnterBackground", "managerWillEnterForeground", "shouldSaveState",
        "shouldRestoreState", "controller(forRestoring:coder:)",
    ]

    @Test(arguments: hooks)
    func everythingMayBeDoneFrom(_ hook: String) async throws {
        let source = SimulatedSource()
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk) { $0.sources = [.simulated(source)] }
        let app = try addController("app", to: manager.root)
        let side = try addController("side", to: manager.root)
        let mine = try app.cache("mine", initialValue: makeBytes(10_000, seed: 1))
        let loaded = try app.cache("loaded") { makeBytes(5000, seed: 2) }
        let keyed = try app.keyedCache("keyed") { (key: Int) in makeBytes(500, seed: UInt64(key)) }
        let delegate = Everything(hook)
        delegate.action.withLock {
            $0 = { @Sendable in
                _ = try? mine.withValue { $0.count }
                try? mine.update { _ in }
                try? loaded.invalidate()
                _ = try? loaded.value()
                _ = try? keyed.value(for: 7)
                keyed.set([1], for: 8)
                keyed.invalidate(for: 8)
                let child = PressureController("child-\(UInt64.random(in: 0 ... .max))")
                try? app.addChild(child)
                _ = try? child.cache("extra", initialValue: [UInt8]([1, 2, 3]))
                try? child.move(to: side)
                child.appear()
                child.budget = .bytes(1)
                child.beginAppearanceTransition(isAppearing: false)
                child.endAppearanceTransition()
                child.removeFromParent()
                try? side.present(child)
                side.dismiss()
                _ = manager.snapshot()
                _ = app.path
                _ = app.residentByteCount
                Task { await app.attemptEviction() }
                Task { await manager.simulateMemoryWarning(.warning) }
            }
        }
        app.delegate = delegate
        manager.delegate = delegate
        let running = Task { try await manager.run() }
        app.appear()
        _ = try await loaded.value()
        _ = try? await app.cache("broken") { () throws -> [UInt8] in throw Broken() }.value()
        source.set(.warning)
        while hook.contains("evel"), delegate.calls.withLock({ $0 }) == 0 { await Task.yield() }
        source.set(.normal)
        _ = await manager.simulateMemoryWarning(.critical)
        _ = try await mine.value()
        let gone = try addController("gone", to: app)
        let directory = "/var/tmp/state-\(hook)"
        try await manager.saveState(to: directory, version: "1")
        gone.removeFromParent()
        try await manager.restoreState(from: directory, version: "1")
        _ = try await mine.value()
        _ = await manager.enterBackground()
        _ = await manager.enterForeground()
        app.disappear()
        app.removeFromParent()
        #expect(delegate.calls.withLock { $0 } > 0, "\(hook) was never called")
        #expect(try await mine.value() == makeBytes(10_000, seed: 1))
        #expect(try await loaded.value() == makeBytes(5000, seed: 2))
        running.cancel()
        try await running.value
        await manager.shutdown()
    }
}
