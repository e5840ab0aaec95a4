import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Several saves into one directory: whatever comes between what, the state is a whole one, and of somebody who said so.
@Suite(.timeLimit(.minutes(15))) struct SaversAtOnceTests {
    private typealias App = StateBench.App
    private static let directory = StateBench.directory
    private let base = InMemoryFileSystem()

    /// One of two that save: an app of its own, and a disk that can hold it at any call.
    private struct Saver {
        let disk: FaultyFileSystem
        let app: App
        let version: String

        init(_ version: String, on base: InMemoryFileSystem) throws {
            disk = FaultyFileSystem(wrapping: base)
            self.version = version
            app = try App(disk)
            _ = try app.news.cache("x", initialValue: makeBytes(9000, seed: UInt64(version.utf8.count), randomBits: 8))
            _ = try app.news.cache("version", initialValue: version)
        }

        /// Whether it says that it has saved.
        func save(to directory: StateDirectory) -> Bool {
            let saver = StateSaver(
                place: directory,
                version: version,
                limits: SpillLimits(freeSpaceFloor: .zero),
                clock: SystemClock()
            )
            return (try? saver.save(app.manager.root)) != nil
        }
    }

    /// Counts calls, on any thread.
    private final class Counter: Sendable {
        private let number = Lock(0)

        var count: Int { number.withLock { $0 } }

        func next() -> Int {
            number.withLock { number in
                number += 1
                return number
            }
        }
    }

    /// The version of the state that is there, all of it read.
    private func version(_ context: @autoclosure () -> String) throws -> String? {
        base.setContents(nil, named: "\(Self.directory)/lock")
        do throws(PressureError) {
            let state = try StateRestorer(place: try StateDirectory(Self.directory, fileSystem: base)).read()
            return state?.manifest.version
        } catch {
            Issue.record("\(context()): \(error)")
            return nil
        }
    }

    private var leftovers: [String] {
        ((try? base.names(in: Self.directory)) ?? []).filter { $0.hasPrefix("state.new") }
    }

    /// Autosave and a save on SIGTERM: the second comes and goes at each call that the first one makes.
    @Test func aSecondSaveAtAnyMomentOfTheFirstLeavesAWholeState() throws {
        let (first, second) = (try Saver("first", on: base), try Saver("second one", on: base))
        let directory = try StateDirectory(Self.directory, fileSystem: first.disk)
        var moment = 1
        while true {
            let calls = Counter()
            let isSecondSaved = Lock<Bool?>(nil)
            first.disk.setInterceptor { [moment] _ in
                guard calls.next() == moment else { return }
                isSecondSaved.withLock { $0 = second.save(to: directory) }
            }
            let isFirstSaved = first.save(to: directory)
            first.disk.setInterceptor(nil)
            let context = "at call \(moment)"
            let found = try version(context)
            #expect(isFirstSaved && isSecondSaved.withLock { $0 } ?? true, "\(context)")
            #expect(found == "first" || found == "second one", "\(context): \(found ?? "nothing")")
            #expect(leftovers == [], "\(context)")
            if isSecondSaved.withLock({ $0 }) == nil { break }
            moment += 1
        }
        #expect(moment > 10)
    }

    /// Two processes, of which somebody has taken the lock's file away: the first is held at each of its calls, the second
    /// goes on to each of its own; then the first ends, then the second.
    @Test func twoThatDoNotKnowOfEachOtherLeaveAWholeState() throws {
        let (first, second) = (try Saver("first", on: base), try Saver("second one", on: base))
        var (rounds, at, until) = (0, 1, 1)
        while true {
            base.setContents(nil, named: "\(Self.directory)/lock")
            let theirs = try StateDirectory(Self.directory, fileSystem: second.disk)
            base.setContents(nil, named: "\(Self.directory)/lock")
            let ours = try StateDirectory(Self.directory, fileSystem: first.disk)
            // 0: the second has not begun; 1: it is held; 2: it may end; 3: it has.
            let stage = ConditionLock(0)
            let outcome = Lock<(first: Bool, second: Bool)>((false, false))
            let (firstCalls, secondCalls) = (Counter(), Counter())
            second.disk.setInterceptor { [until] _ in
                guard secondCalls.next() == until else { return }
                stage.withLock { $0 = 1 }
                stage.wait { $0 >= 2 ? () : nil }
            }
            first.disk.setInterceptor { [at] _ in
                guard firstCalls.next() == at else { return }
                try? WorkerThread.spawn("second") {
                    let isSaved = second.save(to: theirs)
                    outcome.withLock { $0.second = isSaved }
                    stage.withLock { $0 = 3 }
                }
                stage.wait { [1, 3].contains($0) ? () : nil }
            }
            let isSaved = first.save(to: ours)
            outcome.withLock { $0.first = isSaved }
            let isMet = firstCalls.count >= at
            let isHeld = stage.withLock { $0 == 1 }
            if isHeld { stage.withLock { $0 = 2 } }
            if isMet { stage.wait { $0 == 3 ? () : nil } }
            first.disk.setInterceptor(nil)
            second.disk.setInterceptor(nil)
            let context = "the first at call \(at), the second until call \(until)"
            let saved = outcome.withLock { $0 }
            let found = try version(context)
            #expect(saved.first, "\(context)")
            #expect(found == "first" || found == "second one" && saved.second, "\(context): \(found ?? "nothing")")
            if !isMet { break }
            #expect(saved.second, "\(context)")
            #expect(leftovers == [], "\(context)")
            rounds += 1
            // Once the second came through without being held, it is the next moment's turn.
            (at, until) = isHeld ? (at, until + 1) : (at + 1, 1)
        }
        #expect(rounds > 100)
    }

    /// What a process that has gone left behind goes with the next save; what somebody is writing stays.
    @Test func leftoversOfTheDeadAreRemovedAndNeverThoseOfTheLiving() throws {
        let app = try App(base)
        let mine = try StateDirectory(Self.directory, fileSystem: base)
        for name in ["state.new", "state.new-left"] { base.setContents([1, 2], named: "\(Self.directory)/\(name)") }
        let new = try mine.openNew()
        #expect(leftovers.map { "\(Self.directory)/\($0)" } == [new.path])
        base.setContents(nil, named: "\(Self.directory)/lock")
        let other = try StateDirectory(Self.directory, fileSystem: base)
        let saver = StateSaver(
            place: other,
            version: "other",
            limits: SpillLimits(freeSpaceFloor: .zero),
            clock: SystemClock()
        )
        _ = try saver.save(app.manager.root)
        #expect(leftovers.map { "\(Self.directory)/\($0)" } == [new.path])
        base.close(new.descriptor)
        _ = try saver.save(app.manager.root)
        #expect(leftovers == [])
    }

    // MARK: One manager

    /// Holds whoever encodes first, and notes who is at it.
    private final class Gate: PressureControllerDelegate {
        let stage = ConditionLock((entered: 0, isOpen: false))
        let order = Lock<[String]>([])

        func encodeRestorableState(into coder: inout StateCoder) {
            order.withLock { $0.append("begins") }
            stage.withLock { $0.entered += 1 }
            stage.wait { $0.isOpen ? () : nil }
            order.withLock { $0.append("ends") }
        }
        func decodeRestorableState(from coder: StateCoder) { order.withLock { $0.append("decodes") } }
    }

    @Test func savesOfOneManagerHaveTheirTurns() async throws {
        let app = try App(base)
        let gate = Gate()
        app.news.delegate = gate
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await app.manager.saveState(to: Self.directory, version: "\(number)")
                }
                // The first is in its hook, all others wait in the order they came.
                if number == 0 {
                    while gate.stage.withLock({ $0.entered }) == 0 { await Task.yield() }
                } else {
                    while app.manager.restoration.waitingTurns < number { await Task.yield() }
                }
            }
            gate.stage.withLock { $0.isOpen = true }
            try await group.waitForAll()
        }
        #expect(gate.order.withLock { $0 } == Array(repeating: ["begins", "ends"], count: 8).flatMap { $0 })
        await app.manager.shutdown()
        #expect(try version("after eight") == "7")
        #expect(leftovers == [])
    }

    /// A tree that is half restored is nobody's state: a restoration waits for the save before it, and what was asked for
    /// later than that is refused.
    @Test func aRestorationWaitsForTheSaveAndTheNextSaveIsRefused() async throws {
        let app = try App(base)
        let gate = Gate()
        app.news.delegate = gate
        async let saved = app.manager.saveState(to: Self.directory)
        while gate.stage.withLock({ $0.entered }) == 0 { await Task.yield() }
        async let waiting = app.manager.saveState(to: Self.directory)
        while app.manager.restoration.waitingTurns < 1 { await Task.yield() }
        async let restored = app.manager.restoreState(from: Self.directory)
        while app.manager.restoration.waitingTurns < 2 { await Task.yield() }
        gate.stage.withLock { $0.isOpen = true }
        _ = try await saved
        do {
            _ = try await waiting
            Issue.record("a tree was saved that is being restored")
        } catch {
            #expect((error as? PressureError)?.code == .stateNotSaved)
        }
        #expect(try await restored.isFound)
        #expect(gate.order.withLock { $0 } == ["begins", "ends", "decodes"])
        try await app.manager.saveState(to: Self.directory)
    }
}
