import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Being seen: pairs, interruptions, forwarding, covering.
@Suite(.timeLimit(.minutes(15))) struct AppearanceTests {
    let manager: PressureManager
    let lines = HookLog.Lines()
    let a: PressureController
    let b: PressureController
    let c: PressureController
    let logs: [HookLog]

    /// The tree: a has the child b, which has the child c.
    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        a = try addController("a", to: manager.root)
        b = try addController("b", to: a)
        c = try addController("c", to: b)
        logs = [HookLog("a", lines), HookLog("b", lines), HookLog("c", lines)]
        for (controller, log) in zip([a, b, c], logs) { controller.delegate = log }
    }

    // MARK: Transitions by hand

    @Test func aContainerThatForwardsNothingTellsItsChildrenItself() {
        a.forwardsAppearance = false
        a.appear()
        #expect(lines.take() == ["a.willAppear", "a.didAppear"])
        b.beginAppearanceTransition(isAppearing: true)
        #expect(lines.take() == ["b.willAppear", "c.willAppear"])
        #expect(b.isVisible && c.isVisible)
        b.endAppearanceTransition()
        #expect(lines.take() == ["b.didAppear", "c.didAppear"])
        b.endAppearanceTransition()
        b.beginAppearanceTransition(isAppearing: true)
        #expect(lines.take() == [], "it is there already, and nothing is under way")
        b.beginAppearanceTransition(isAppearing: false)
        b.endAppearanceTransition()
        #expect(lines.take() == ["b.willDisappear", "c.willDisappear", "b.didDisappear", "c.didDisappear"])
    }

    /// A swipe that is begun and given up: the opposite `will`, and its `did`.
    @Test(arguments: [true, false])
    func anInterruptedTransitionEndsWithItsOpposite(isAppearing: Bool) {
        if !isAppearing { c.appear() }
        lines.clear()
        c.beginAppearanceTransition(isAppearing: isAppearing)
        c.beginAppearanceTransition(isAppearing: !isAppearing)
        c.endAppearanceTransition()
        let there = ["c.willAppear", "c.willDisappear", "c.didDisappear"]
        let back = ["c.willDisappear", "c.willAppear", "c.didAppear"]
        #expect(lines.take() == (isAppearing ? there : back))
        #expect(c.isVisible == !isAppearing)
    }

    @Test func aTransitionByHandTakesInChildrenThatAppearOnTheirOwn() {
        c.appear()
        lines.clear()
        a.beginAppearanceTransition(isAppearing: true)
        a.endAppearanceTransition()
        #expect(lines.take() == ["a.willAppear", "b.willAppear", "a.didAppear", "b.didAppear"])
    }

    // MARK: From inside hooks

    /// Calls something when it hears a line for the first time.
    private func on(_ line: String, _ body: @escaping @Sendable () -> Void) { lines.on(line, body) }

    @Test func aHookThatHidesItsControllerEndsTheTransition() {
        on("a.willAppear") { [a] in a.disappear() }
        a.appear()
        #expect(lines.take() == ["a.willAppear", "a.willDisappear", "a.didDisappear"])
        #expect([a, b, c].map(\.isVisible) == [false, false, false])
    }

    @Test func aHookThatHidesAChildIsObeyed() {
        on("b.willAppear") { [b] in b.disappear() }
        a.appear()
        #expect(
            lines.take() == ["a.willAppear", "b.willAppear", "b.willDisappear", "b.didDisappear", "a.didAppear"]
        )
        #expect([a, b, c].map(\.isVisible) == [true, false, false])
    }

    /// The child's hooks come once, whoever asks.
    @Test(arguments: ["a.willAppear", "b.willAppear", "a.didAppear"])
    func aHookThatShowsAChildShowsItOnce(_ hook: String) {
        on(hook) { [c] in c.appear() }
        a.appear()
        let all = lines.take()
        #expect(all.filter { $0 == "c.willAppear" }.count == 1)
        #expect(all.filter { $0 == "c.didAppear" }.count == 1)
        #expect(Set(all).count == 6 && all.count == 6)
        #expect([a, b, c].map(\.isVisible) == [true, true, true])
    }

    @Test func aChildThatAHookAddsAppearsToo() throws {
        let d = PressureController("d")
        let log = HookLog("d", lines)
        d.delegate = log
        on("a.willAppear") { [a] in try? a.addChild(d) }
        a.appear()
        #expect(d.isVisible)
        #expect(lines.take().filter { $0.hasPrefix("d.") && !$0.contains("Move") } == ["d.willAppear", "d.didAppear"])
    }

    @Test func aChildThatAHookRemovesIsNotTold() throws {
        on("a.willAppear") { [b] in b.removeFromParent() }
        a.appear()
        #expect(!b.isVisible && !c.isVisible)
        #expect(lines.take() == ["a.willAppear", "b.willMove nil", "b.didMove nil", "a.didAppear"])
    }

    /// From several threads: one hook at a time for each controller, in pairs that fit.
    @Test func hooksFromSeveralThreadsAreInOrder() async {
        let controller = PressureController("busy")
        let log = PairLog()
        controller.delegate = log
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for step in 0..<500 {
                        if (step + number).isMultiple(of: 2) { controller.appear() } else { controller.disappear() }
                    }
                }
            }
        }
        controller.disappear()
        #expect(log.problems.withLock { $0 } == [])
        #expect(log.last.withLock { $0 } == "didDisappear" || log.last.withLock { $0 } == "")
    }

    /// Holds each hook against the one before.
    private final class PairLog: PressureControllerDelegate {
        let last = Lock("")
        let problems = Lock<[String]>([])
        private let inside = Lock(0)
        private static let successors: [String: Set<String>] = [
            "": ["willAppear"],
            "willAppear": ["didAppear", "willDisappear"],
            "didAppear": ["willDisappear"],
            "willDisappear": ["didDisappear", "willAppear"],
            "didDisappear": ["willAppear"],
        ]

        private func note(_ hook: String) {
            let depth = inside.withLock { depth in
                depth += 1
                return depth
            }
            let before = last.withLock { last in
                defer { last = hook }
                return last
            }
            let isRight = Self.successors[before]?.contains(hook) ?? false
            if !isRight || depth != 1 { problems.withLock { $0.append("\(before) → \(hook), depth \(depth)") } }
            inside.withLock { $0 -= 1 }
        }

        func willAppear() { note("willAppear") }
        func didAppear() { note("didAppear") }
        func willDisappear() { note("willDisappear") }
        func didDisappear() { note("didDisappear") }
    }

    // MARK: Covering

    @Test func whatIsPresentedTakesThePresentersPlace() throws {
        let sheet = PressureController("sheet")
        let log = HookLog("sheet", lines)
        sheet.delegate = log
        a.appear()
        lines.clear()
        try a.present(sheet)
        #expect(
            lines.take() == [
                "a.willDisappear", "b.willDisappear", "c.willDisappear", "sheet.willAppear", "sheet.didAppear",
                "a.didDisappear", "b.didDisappear", "c.didDisappear",
            ]
        )
        #expect(a.presented === sheet && sheet.presenter === a && sheet.parent == nil)
        #expect(sheet.path == "a/sheet")
        #expect(a.children.map(\.identifier) == ["b"])
        sheet.dismiss()
        #expect(
            lines.take() == [
                "sheet.willDisappear", "a.willAppear", "b.willAppear", "c.willAppear", "a.didAppear", "b.didAppear",
                "c.didAppear", "sheet.didDisappear",
            ]
        )
        #expect(a.presented == nil && sheet.presenter == nil)
        a.dismiss()
        #expect(lines.take() == [])
    }

    /// While the presenter is hidden, so is what it presents; it appears in the presenter's place.
    @Test func appearingWhileCoveredMeansWhatCovers() throws {
        let (sheet, alert) = (PressureController("sheet"), PressureController("alert"))
        let sheetLogs = [HookLog("sheet", lines), HookLog("alert", lines)]
        (sheet.delegate, alert.delegate) = (sheetLogs[0], sheetLogs[1])
        try a.present(sheet)
        try sheet.present(alert)
        #expect(lines.take() == [], "the presenter was hidden")
        a.appear()
        #expect(lines.take() == ["alert.willAppear", "alert.didAppear"])
        #expect([a, b, c, sheet, alert].map(\.isVisible) == [false, false, false, false, true])
        a.disappear()
        #expect(lines.take() == ["alert.willDisappear", "alert.didDisappear"])
        a.appear()
        lines.clear()
        // All the way down at once.
        a.dismiss()
        #expect(
            lines.take() == [
                "alert.willDisappear", "a.willAppear", "b.willAppear", "c.willAppear", "a.didAppear", "b.didAppear",
                "c.didAppear", "alert.didDisappear",
            ]
        )
        #expect(sheet.presented === alert, "the chain that was dismissed stays in one piece")
        withExtendedLifetime(sheetLogs) {}
    }

    @Test func presentingWhatHasAPlaceIsRefused() throws {
        let sheet = PressureController("sheet")
        try a.present(sheet)
        func expect(_ code: PressureError.Code, _ body: () throws -> Void) {
            let error = #expect(throws: PressureError.self) { try body() }
            #expect(error?.code == code)
        }
        expect(.hierarchyInconsistency) { try a.present(PressureController("second")) }
        expect(.hierarchyInconsistency) { try b.present(sheet) }
        expect(.hierarchyInconsistency) { try manager.root.addChild(sheet) }
        expect(.hierarchyInconsistency) { try sheet.present(a) }
        expect(.hierarchyInconsistency) { try sheet.addChild(a) }
        expect(.hierarchyInconsistency) { try b.present(b) }
        expect(.duplicateIdentifier) { try b.present(PressureController("c")) }
        expect(.duplicateIdentifier) { try a.addChild(PressureController("sheet")) }
        #expect(a.presented === sheet && b.presented == nil && sheet.presented == nil)
    }

    /// What is covered goes first, even what its container shows by hand; warnings reach what covers it.
    @Test func whatIsCoveredIsHidden() async throws {
        a.forwardsAppearance = false
        let sheet = PressureController("sheet")
        let log = HookLog("sheet", lines)
        sheet.delegate = log
        a.appear()
        b.appear()
        try a.present(sheet)
        _ = try b.cache("covered", initialValue: makeBytes(1000, seed: 1))
        _ = try sheet.cache("seen", initialValue: makeBytes(1000, seed: 2))
        lines.clear()
        let report = await manager.reclaim(.bytes(1000))
        #expect(report.evicted.map(\.path) == ["a/b/covered"])
        let snapshot = manager.snapshot().controllers
        #expect(snapshot.first { $0.path == "a" }?.isVisible == false)
        lines.clear()
        #expect(await manager.simulateMemoryWarning(.critical).evicted.map(\.path) == ["a/sheet/seen"])
        #expect(lines.take().contains("sheet.warning critical"))
    }
}
