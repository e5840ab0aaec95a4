import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// What may leave memory, and who is asked.
@Suite(.timeLimit(.minutes(15))) struct NegotiationTests {
    let manager: PressureManager
    let app: PressureController
    let delegate = LevelEvaluator()

    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        app = try addController("app", to: manager.root)
        app.delegate = delegate
    }

    /// A delegate that vetoes and prefers by name, and writes down the frame of each reclaim.
    final class LevelEvaluator: PressureControllerDelegate {
        let vetoes = Lock<Set<String>>([])
        let preferences = Lock<[String: Disposition]>([:])
        let lines = HookLog.Lines()

        func shouldEvict(_ resource: PressureResource) -> Bool {
            lines.add("should \(resource.name)")
            return !vetoes.withLock { $0.contains(resource.name) }
        }
        func preferredDisposition(for resource: PressureResource) -> Disposition? {
            preferences.withLock { $0[resource.name] }
        }
        func didReceiveMemoryWarning(_ warning: MemoryWarning) { lines.add("warning") }
        func evictionWillBegin(_ cause: PressureCause) { lines.add("will") }
        func evictionIsUnderWay(_ cause: PressureCause) { lines.add("during") }
        func evictionDidEnd(_ report: EvictionReport) { lines.add("did \(report.evicted.count)") }
        func resourceWillEvict(_ resource: PressureResource) { lines.add("willEvict \(resource.name)") }
        func resourceDidEvict(_ resource: PressureResource) { lines.add("didEvict \(resource.name)") }
    }

    // MARK: The diagram

    @Test func oneWarningInOrder() async throws {
        _ = try app.cache("x", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(
            delegate.lines.take() == ["warning", "should x", "will", "during", "willEvict x", "didEvict x", "did 1"]
        )
        // Nothing is in memory: nobody is asked.
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(delegate.lines.take() == ["warning"])
    }

    // MARK: Veto

    @Test func aVetoIsSkippedNamedAndTakenBack() async throws {
        delegate.vetoes.withLock { $0 = ["held"] }
        let held = try app.cache("held", initialValue: makeBytes(1000, seed: 1))
        let free = try app.cache("free", initialValue: makeBytes(1000, seed: 2))
        for _ in 0..<2 {
            let report = await manager.simulateMemoryWarning(.critical)
            #expect(report.skipped.map(\.path) == ["app/held"])
            #expect(report.skipped.map(\.reason) == [.vetoed])
            #expect(report.skipped.map(\.bytes) == [.bytes(1000)])
        }
        #expect(held.isLoaded && !free.isLoaded)
        // Still vetoed: nothing happens. The other one, which came back, is none of its business.
        _ = try await free.value()
        #expect(await app.attemptEviction().evicted.isEmpty)
        delegate.vetoes.withLock { $0 = [] }
        #expect(await manager.root.attemptEviction().evicted.map(\.path) == ["app/held"])
        #expect(free.isLoaded && held.residency == .spilled)
        #expect(try await held.value() == makeBytes(1000, seed: 1))
        #expect(await app.attemptEviction().evicted.isEmpty, "no reclaim has asked for it since")
    }

    /// What a veto had kept goes when there is a disk to go to, and is asked for until then.
    @Test func aVetoThatIsTakenBackWhileTheDiskIsFullLosesNothing() async throws {
        let clock = ManualClock()
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.clock = clock }
        let app = try addController("app", to: manager.root)
        app.delegate = delegate
        delegate.vetoes.withLock { $0 = ["held"] }
        let held = try app.cache("held", initialValue: makeBytes(1000, seed: 1))
        let free = try app.cache("free", initialValue: makeBytes(1000, seed: 2))
        disk.set(.init(.error(ENOSPC), on: .write))
        #expect(await manager.simulateMemoryWarning(.critical).evicted.isEmpty)
        delegate.vetoes.withLock { $0 = [] }
        let writes = disk.calls(.write)
        let report = await app.attemptEviction()
        #expect(report.skipped.map(\.path) == ["app/held"])
        #expect(report.skipped.map(\.reason) == [.spillSuspended])
        #expect(disk.calls(.write) == writes, "a full disk was hammered")
        disk.set(nil)
        clock.advance(by: .seconds(2))
        #expect(await app.attemptEviction().evicted.map(\.path) == ["app/held"])
        #expect(held.residency == .spilled && free.isLoaded)
        #expect(try await held.value() == makeBytes(1000, seed: 1))
    }

    @Test func onlyWhatMayBeKeptCanBeVetoed() async throws {
        delegate.vetoes.withLock { $0 = ["x"] }
        let cache = try app.cache(
            "x",
            options: .init(supportedDispositions: [.spill, .drop]),
            initialValue: makeBytes(1000, seed: 1)
        )
        #expect(await manager.simulateMemoryWarning(.critical).evicted.count == 1)
        #expect(cache.residency == .spilled)
    }

    // MARK: Sets

    static let ways: [(Disposition, EvictionReport.Outcome)] = [
        (.all, .dropped), (.spill, .spilled), (.drop, .dropped), ([.keep, .spill], .spilled),
        ([.keep, .drop], .dropped),
    ]

    @Test(arguments: ways)
    func aValueLeavesAsItsSetAllows(_ set: Disposition, _ way: EvictionReport.Outcome) async throws {
        // Cheap to load again, so that it would be dropped if that is open.
        let cache = try app.cache("x", options: .init(supportedDispositions: set)) { makeBytes(100_000, seed: 1) }
        try cache.loadIfNeeded()
        cache.entry.statistics.noteLoad(.zero)
        for _ in 0..<500 { cache.entry.statistics.noteLoad(.zero) }
        #expect(await manager.simulateMemoryWarning(.critical).evicted.map(\.outcome) == [way])
        #expect(try await cache.value() == makeBytes(100_000, seed: 1))
    }

    @Test func whatIsPreferredIsDoneIfItIsOpen() async throws {
        delegate.preferences.withLock { $0 = ["a": .spill, "b": .drop, "c": .drop] }
        let a = try app.cache("a") { makeBytes(1000, seed: 1) }
        let b = try app.cache("b") { makeBytes(1000, seed: 2) }
        let c = try app.cache("c", initialValue: makeBytes(1000, seed: 3))
        try a.loadIfNeeded()
        try b.loadIfNeeded()
        let report = await manager.simulateMemoryWarning(.critical)
        let ways = Dictionary(uniqueKeysWithValues: report.evicted.map { ($0.path, $0.outcome) })
        #expect(
            ways == ["app/a": .spilled, "app/b": .dropped, "app/c": .spilled],
            "without a loader nothing is dropped"
        )
        withExtendedLifetime(c) {}
    }

    @Test func whatMayOnlyBeKeptNeverLeaves() async throws {
        let cache = try app.cache(
            "x",
            options: .init(supportedDispositions: .keep),
            initialValue: makeBytes(1000, seed: 1)
        )
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.skipped.map(\.reason) == [.unsupported])
        #expect(cache.isLoaded)
    }

    @Test func anEmptySetIsRefusedAndNamesAllThree() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.supportedDispositions = [.keep, .spill] }
        let controller = PressureController("narrow", supportedDispositions: [.spill, .drop])
        try manager.root.addChild(controller)
        let error = #expect(throws: PressureError.self) {
            try controller.cache("x", options: .init(supportedDispositions: [.keep, .drop])) { [UInt8]() }
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == "narrow/x")
        for set in ["[keep, drop]", "[spill, drop]", "[keep, spill]"] {
            #expect(error?.message.contains(set) == true, "\(error?.message ?? "")")
        }
        // It was not registered.
        #expect(try controller.cache("x", options: .init(supportedDispositions: .spill)) { [UInt8]() }.name == "x")
        // No loader, nothing to drop.
        #expect(throws: PressureError.self) {
            try PressureController("c").cache(
                "y",
                options: .init(supportedDispositions: .drop),
                initialValue: [UInt8]([1])
            )
        }
    }

    @Test func joiningAManagerThatSupportsNothingOfItIsRefused() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.supportedDispositions = .spill }
        let top = PressureController("top")
        let child = PressureController("child", supportedDispositions: .drop)
        try top.addChild(child)
        let error = #expect(throws: PressureError.self) { try manager.root.addChild(top) }
        #expect(error?.code == .invalidConfiguration)
        #expect(top.parent == nil && manager.root.children.isEmpty)
        #expect(throws: PressureError.self) {
            try makeManager(fileSystem: InMemoryFileSystem()) { $0.supportedDispositions = [] }
        }
    }

    // MARK: Delegates that throw time away

    /// Stays in a hook until it is let go, and moves the clock on, so that nobody's patience needs real time.
    final class Sleeper: PressureControllerDelegate, PressureManagerDelegate {
        private let state = ConditionLock((isHeld: true, calls: 0))
        let clock: ManualClock
        let hook: String

        init(_ hook: String, _ clock: ManualClock) {
            self.hook = hook
            self.clock = clock
        }

        private func called(_ name: String) {
            guard name == hook else { return }
            state.withLock { $0.calls += 1 }
            clock.advance(by: .seconds(10))
            state.wait { $0.isHeld ? nil : () }
        }

        var calls: Int { state.withLock { $0.calls } }
        func wake() { state.withLock { $0.isHeld = false } }
        func didReceiveMemoryWarning(_ warning: MemoryWarning) { called("didReceiveMemoryWarning") }
        func shouldEvict(_ resource: PressureResource) -> Bool {
            called("shouldEvict")
            return false
        }
        func evictionWillBegin(_ cause: PressureCause) { called("evictionWillBegin") }
        func evictionIsUnderWay(_ cause: PressureCause) { called("evictionIsUnderWay") }
        func evictionDidEnd(_ report: EvictionReport) { called("evictionDidEnd") }
        func resourceWillEvict(_ resource: PressureResource) { called("resourceWillEvict") }
        func resourceDidEvict(_ resource: PressureResource) { called("resourceDidEvict") }
        func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) { called("managerDidReceiveMemoryWarning") }
    }

    /// A hook that hangs does not hold up a reclaim: the report names it, the value goes, everybody else is told, and the
    /// next reclaim does not ask it again before it has returned.
    @Test(arguments: [
        "didReceiveMemoryWarning", "shouldEvict", "evictionWillBegin", "evictionIsUnderWay", "evictionDidEnd",
        "resourceWillEvict", "resourceDidEvict", "managerDidReceiveMemoryWarning",
    ])
    func aHookThatHangsIsLeftBehind(_ hook: String) async throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.clock = clock }
        let slow = try addController("slow", to: manager.root)
        let quick = try addController("quick", to: manager.root)
        let sleeper = Sleeper(hook, clock)
        let evaluator = LevelEvaluator()
        slow.delegate = sleeper
        quick.delegate = evaluator
        if hook.hasPrefix("manager") { manager.delegate = sleeper }
        // Whatever it answers, so that it has something to be told of.
        let mine = try slow.cache(
            "mine",
            options: .init(supportedDispositions: .spill),
            initialValue: makeBytes(1000, seed: 1)
        )
        _ = try quick.cache("other", initialValue: makeBytes(1000, seed: 2))
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.unheard.map(\.hook) == [hook])
        #expect(report.unheard.map(\.path) == [hook.hasPrefix("manager") ? "" : "slow"])
        for one in report.unheard { #expect(one.duration >= .milliseconds(500)) }
        #expect(report.evicted.contains { $0.path == "quick/other" })
        // The others hear of it, if not at once.
        while !evaluator.lines.all.contains("warning") { await Task.yield() }
        #expect(evaluator.lines.all.filter { $0 == "warning" }.count == 1)
        #expect(sleeper.calls == 1)
        _ = try quick.cache("third", initialValue: makeBytes(1000, seed: 3))
        let second = await manager.simulateMemoryWarning(.critical)
        #expect(second.unheard.isEmpty)
        #expect(second.evicted.contains { $0.path == "quick/third" })
        #expect(sleeper.calls == 1)
        sleeper.wake()
        _ = mine
    }
}
