import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// The process as a whole: changes of the level, the background, alternates.
@Suite(.timeLimit(.minutes(15))) struct SceneTests {
    let manager: PressureManager
    let source = SimulatedSource()
    let lines = HookLog.Lines()
    let front: PressureController
    let back: PressureController
    let logs: [HookLog]

    init() throws {
        let source = source
        manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.sources = [.simulated(source)] }
        front = try addController("front", to: manager.root)
        back = try addController("back", to: manager.root)
        logs = [HookLog("front", lines), HookLog("back", lines)]
        (front.delegate, back.delegate) = (logs[0], logs[1])
    }

    /// Makes the level what is said, as the monitor would: here and now.
    private func setLevel(_ level: PressureLevel) async {
        let cause = PressureCause(
            origin: .simulated,
            source: "test",
            levelBefore: manager.context.scene.level,
            levelAfter: level
        )
        let decision = PressureDecision(cause: cause, score: 0, reclaim: nil)
        _ = await manager.perform(ReclaimRequest(decision, share: 0.25, context: manager.context))
    }

    // MARK: Levels

    @Test func aChangeIsToldToTheVisibleAndKeptForTheHidden() async throws {
        front.appear()
        lines.clear()
        await setLevel(.warning)
        #expect(lines.take() == ["front.level warning"])
        await setLevel(.critical)
        #expect(lines.take() == ["front.level critical"])
        // Two were missed; the newest is told.
        back.appear()
        #expect(lines.take() == ["back.level critical", "back.willAppear", "back.didAppear"])
        back.disappear()
        lines.clear()
        await setLevel(.warning)
        await setLevel(.critical)
        lines.clear()
        back.appear()
        #expect(lines.take() == ["back.willAppear", "back.didAppear"], "it is as it was when it was last told")
    }

    @Test func whatAppearsUnderPressureIsToldFirst() async throws {
        await setLevel(.warning)
        let late = try addController("late", to: manager.root)
        let log = HookLog("late", lines)
        late.delegate = log
        late.appear()
        #expect(lines.take() == ["late.level warning", "late.willAppear", "late.didAppear"])
    }

    // MARK: The background

    @Test func suspendedControllersAreToldWhenTheyReturn() async throws {
        front.appear()
        lines.clear()
        _ = await manager.enterBackground()
        #expect(manager.isInBackground)
        front.disappear()
        back.appear()
        back.disappear()
        back.appear()
        await setLevel(.warning)
        #expect(lines.take() == [])
        #expect([front.isVisible, back.isVisible] == [true, false])
        _ = await manager.enterForeground()
        #expect(!manager.isInBackground)
        #expect(
            lines.take() == [
                "front.willDisappear", "front.didDisappear", "back.level warning", "back.willAppear", "back.didAppear",
            ]
        )
    }

    /// One that was appearing when the app was suspended arrives when it is back.
    @Test func aTransitionThatWasCutShortEnds() async throws {
        front.beginAppearanceTransition(isAppearing: true)
        _ = await manager.enterBackground()
        lines.clear()
        front.endAppearanceTransition()
        #expect(lines.take() == [])
        front.appear()
        _ = await manager.enterForeground()
        #expect(lines.take() == ["front.didAppear"])
    }

    /// New pressure ends restoring ahead: what was not begun is left, and comes back when it is read.
    @Test func newPressureEndsRestoringAhead() async throws {
        front.appear()
        let caches = try (0..<8).map { try front.cache("\($0)", initialValue: makeBytes(1000, seed: UInt64($0))) }
        _ = await manager.enterBackground()
        let scene = manager.context.scene
        // Whichever of the first is the first: no other one is begun after it.
        for number in 0..<8 { lines.on("front.didRestore \(number)") { scene.noteDemand() } }
        let report = await manager.enterForeground()
        // As many as were begun at once, or fewer if the first was back before they were.
        #expect(1...3 ~= report.restored.count)
        #expect(report.restored.count + report.left.count == 8)
        for (seed, cache) in caches.enumerated() {
            #expect(try await cache.value() == makeBytes(1000, seed: UInt64(seed)))
        }
    }

    @Test func aWarningIsSuchPressureAndARequestIsNot() async throws {
        let before = manager.context.scene.demands
        _ = await manager.reclaim(.bytes(1))
        await setLevel(.normal)
        #expect(manager.context.scene.demands == before)
        _ = await manager.simulateMemoryWarning(.warning)
        #expect(manager.context.scene.demands == before + 1)
        await setLevel(.critical)
        #expect(manager.context.scene.demands == before + 2)
    }

    // MARK: Alternates

    @Test func theLighterValueWhileMemoryIsShortAndTheFullOneAfter() async throws {
        let picture = try front.cache("picture", alternateFrom: .warning) {
            makeBytes(100, seed: 1)
        } loader: {
            makeBytes(10_000, seed: 2)
        }
        #expect(try await picture.value().count == 10_000)
        #expect(picture.variant == .full)
        await setLevel(.warning)
        #expect(try await picture.value().count == 10_000, "what is there stays")
        try picture.invalidate()
        try picture.withVariant { value, variant in
            #expect(value.count == 100)
            #expect(variant == .alternate)
        }
        // It is spilled or dropped, and comes back as what it was or as what the level calls for.
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(try await picture.value().count == 100)
        #expect(picture.variant == .alternate)
        let lease = try await picture.lease()
        await setLevel(.normal)
        while picture.variant != .full { await Task.yield() }
        #expect(try await picture.value() == makeBytes(10_000, seed: 2))
        #expect(lease.value.count == 100, "who has the lighter one keeps it")
        // It is as the loader makes it: it may be dropped.
        #expect(picture.entry.state.isReloadable)
    }

    @Test func aLighterValueThatWasChangedStays() async throws {
        let picture = try front.cache("picture", alternateFrom: .warning) {
            [UInt8]([1])
        } loader: {
            [UInt8]([1, 2, 3])
        }
        await setLevel(.critical)
        try picture.loadIfNeeded()
        try picture.update { $0.append(9) }
        await setLevel(.normal)
        try picture.entry.bringFullBack()
        #expect(try await picture.value() == [1, 9])
    }

    @Test func aSpilledLighterValueIsDiscarded() async throws {
        let picture = try front.cache("picture", alternateFrom: .warning) {
            [UInt8]([1])
        } loader: {
            [UInt8]([1, 2])
        }
        await setLevel(.warning)
        try picture.loadIfNeeded()
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(!picture.isLoaded)
        await setLevel(.normal)
        while picture.residency != .unloaded { await Task.yield() }
        #expect(try await picture.value() == [1, 2])
    }

    // MARK: Pauses

    @Test func aSleepHookPausesAndResumes() async throws {
        let path = "/var/tmp/pressurekit-pause-\(UInt64.random(in: 0 ... .max))"
        defer { _ = unsafe unlink(path) }
        front.appear()
        let cache = try front.cache("x", initialValue: makeBytes(1000, seed: 1))
        let following = Task { [manager] in try await manager.followPauses([.fifo(path)]) }
        func write(_ words: String) {
            var descriptor: CInt = -1
            // Not there before the task has begun; then somebody reads.
            while descriptor < 0 { descriptor = unsafe open(path, O_WRONLY | O_NONBLOCK) }
            let bytes = [UInt8](words.utf8)
            _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
            close(descriptor)
        }
        var information = stat()
        while unsafe stat(path, &information) != 0 { await Task.yield() }
        #expect(information.st_mode & 0o7777 == 0o600)
        write("pre\n")
        while !manager.isInBackground { await Task.yield() }
        while cache.isLoaded { await Task.yield() }
        write("nonsense that nobody understands\npost\n")
        while manager.isInBackground { await Task.yield() }
        while !cache.isLoaded { await Task.yield() }
        following.cancel()
        try await following.value
        let taken = await #expect(throws: PressureError.self) { try await manager.followPauses([.fifo("/dev/null")]) }
        #expect(taken?.code == .signalUnavailable)
    }

    #if !canImport(Darwin)
    /// Ctrl-Z in a process of its own: the memory goes, the process stops, and comes back when somebody continues it.
    @Test func theTerminalPausesAndResumes() async {
        await #expect(processExitsWith: .success) {
            let manager = try makeManager()
            let controller = try addController("app", to: manager.root)
            controller.appear()
            let cache = try controller.cache("x", initialValue: makeBytes(1000, seed: 1))
            let lines = HookLog.Lines()
            let log = HookLog("manager", lines)
            manager.delegate = log
            let following = Task { try await manager.followPauses([.terminal]) }
            // Until the handlers are there, the signal would only stop the process.
            var action = sigaction()
            repeat {
                _ = unsafe sigaction(SIGTSTP, nil, &action)
                await Task.yield()
            } while unsafe action.__sigaction_handler.sa_handler == nil
            // Continues this process once it has stopped.
            let watcher = Process()
            watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
            watcher.arguments = [
                "-c", "until grep -q '^State:.T' /proc/\(getpid())/status; do :; done; kill -CONT \(getpid())",
            ]
            try watcher.run()
            kill(getpid(), SIGTSTP)
            while !lines.all.contains("manager.foreground") { await Task.yield() }
            while !cache.isLoaded { await Task.yield() }
            precondition(lines.all == ["manager.background", "manager.foreground"])
            following.cancel()
            try await following.value
            withExtendedLifetime(log) {}
        }
    }
    #endif
}
