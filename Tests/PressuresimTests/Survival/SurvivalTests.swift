import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// The demonstration's work without a cgroup: small, and in this process.
@Suite struct SurvivalLoadTests {
    private static let plan = SurvivalPlan(
        limit: .mebibytes(1),
        times: 2,
        rate: 1e9,
        valueSize: .kibibytes(64)
    )

    @Test func everyValueIsLoadedAndComparedAtTheEnd() throws {
        let plan = Self.plan
        let load = SurvivalLoad(plan: plan, store: PlainStore(), values: SurvivalValues(plan: plan))
        let told = Lock([Int]())
        try load.run { count in told.withLock { $0.append(count) } }
        #expect(plan.count == 32)
        #expect(load.tally.loaded == 32)
        #expect(load.tally.verifiedAtEnd == 32)
        #expect(load.tally.lost == 0)
        #expect(told.withLock { $0 } == Array(1...32))
    }

    @Test func theLibraryGivesBackWhatItWasGiven() async throws {
        let plan = Self.plan
        let values = SurvivalValues(plan: plan)
        let manager = try PressureManager()
        let store = try KitStore(manager.root) { values.make($0) }
        let load = SurvivalLoad(plan: plan, store: store, values: values)
        try await Blocking.run("test") { try load.run { _ in } }
        #expect(load.tally.verifiedAtEnd == plan.count)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(store.documents.residentByteCount == .zero)
        let tally = try await Blocking.run("test") {
            try (0..<plan.count).filter { key in try store.read(key) { values.knows($0, as: key) } }.count
        }
        #expect(tally == plan.count)
    }

    /// A store that forgets one value and changes another.
    private final class BadStore: SurvivalStore {
        private let store = PlainStore()

        func load(_ key: Int, make: (Int) -> PageBuffer) {
            store.load(key) { key in
                var value = make(key)
                if key == 7 { value.write { $0.storeBytes(of: 0xFF, toByteOffset: 999, as: UInt8.self) } }
                return value
            }
        }

        func read(_ key: Int, _ body: (PageBuffer) -> Bool) throws -> Bool {
            if key == 3 { throw SurvivalLoss() }
            return try store.read(key, body)
        }
    }

    @Test func whatIsLostOrChangedIsCountedAndNamed() throws {
        let plan = Self.plan
        let load = SurvivalLoad(plan: plan, store: BadStore(), values: SurvivalValues(plan: plan))
        try load.run { _ in }
        #expect(load.tally.verifiedAtEnd == plan.count - 2)
        #expect(load.tally.lost >= 2)
        #expect(load.tally.losses.contains("value 3: it is gone"))
        #expect(load.tally.losses.contains("value 7 has come back changed"))
    }
}

/// A disk that goes away below the demonstration, without the disk.
@Suite struct SurvivalOutageTests {
    /// A store whose values without a loader cannot be read while the file exists, but for those that are in memory.
    private final class GoneStore: SurvivalStore {
        private let store = PlainStore()
        private let file: String
        private let inMemory: Range<Int>
        private let error: PressureError
        /// At which counts the file was there.
        let gone = Lock<[Int]>([])

        init(_ file: String, inMemory: Range<Int>, error: PressureError) {
            self.file = file
            self.inMemory = inMemory
            self.error = error
        }

        private var isGone: Bool { FileManager.default.fileExists(atPath: file) }

        func load(_ key: Int, make: (Int) -> PageBuffer) {
            if isGone { gone.withLock { $0.append(key) } }
            store.load(key, make: make)
        }

        func read(_ key: Int, _ body: (PageBuffer) -> Bool) throws -> Bool {
            if isGone, !KitStore.hasLoader(key), !inMemory.contains(key) { throw error }
            return try store.read(key, body)
        }
    }

    private static let refusal = PressureError(code: .restoreFailed, message: "", path: "survival/documents[3]")

    private static func run(
        isForEver: Bool,
        inMemory: Range<Int> = 24..<32,
        error: PressureError = refusal
    ) throws -> (tally: SurvivalLoad.Tally, gone: [Int], hasSurvived: Bool) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outage-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        var plan = SurvivalPlan(limit: .mebibytes(1), times: 2, rate: 1e9, valueSize: .kibibytes(64))
        plan.outage = SurvivalOutage(file: file, isForEver: isForEver)
        let store = GoneStore(file, inMemory: inMemory, error: error)
        let load = SurvivalLoad(plan: plan, store: store, values: SurvivalValues(plan: plan))
        try load.run { _ in }
        #expect(FileManager.default.fileExists(atPath: file) == isForEver)
        let news = SurvivalNews(seconds: 1, tally: load.tally, isFinal: true)
        let outcome = Survival.Outcome(
            mode: .with,
            news: news,
            complaint: "",
            status: 0,
            seconds: 1,
            fullest: SurvivalObserver.Sight()
        )
        return (load.tally, store.gone.withLock { $0 }, outcome.hasSurvived(plan))
    }

    @Test func aDiskThatComesBackIsGoneForAnEighthAndEveryValueMustBeRightAtTheEnd() throws {
        let run = try Self.run(isForEver: false)
        #expect(run.gone == Array(24..<28))
        #expect(run.tally.verifiedAtEnd == 32)
        #expect(run.tally.refusedAtEnd == 0)
        #expect(run.tally.lost == 0)
        #expect(run.hasSurvived)
    }

    @Test func aDiskThatStaysAwayExcusesWhatOnlyItHeld() throws {
        let run = try Self.run(isForEver: true)
        #expect(run.gone == Array(24..<32))
        #expect(run.tally.refusedAtEnd == 12)
        #expect(run.tally.verifiedAtEnd == 20)
        #expect(run.tally.lost == 0)
        #expect(run.hasSurvived)
    }

    @Test func whatWasSetAfterTheDiskHadGoneMayNotHaveLeftMemory() throws {
        let run = try Self.run(isForEver: true, inMemory: 24..<30)
        #expect(run.tally.lost >= 1)
        #expect(!run.hasSurvived)
    }

    @Test(arguments: [
        PressureError(code: .restoreFailed, message: ""),
        PressureError(code: .damagedCopy, message: "", path: "survival/documents[3]"),
        PressureError(code: .noValue, message: "", path: "survival/documents[3]"),
        PressureError(code: .restoreFailed, message: "", path: "survival/tiles[3]"),
    ])
    func anyOtherErrorIsALoss(_ error: PressureError) throws {
        let run = try Self.run(isForEver: true, error: error)
        #expect(run.tally.refusedAtEnd == 0)
        #expect(run.tally.lost >= 12)
        #expect(!run.hasSurvived)
    }
}

/// Both processes side by side, word for word.
@Suite struct SurvivalReportTests {
    private static func outcome(_ mode: SurvivalMode, killed: Bool, lost: Int = 0) -> Survival.Outcome {
        var tally = SurvivalLoad.Tally(loaded: killed ? 252 : 1024, verified: 5000, verifiedAtEnd: killed ? 0 : 1024)
        tally.lost = lost
        let part = SurvivalLibraryPart(
            reclaims: 3,
            longestReclaimSeconds: 0.1,
            batches: 12,
            evictions: 20,
            restores: 10,
            loads: 9
        )
        return Survival.Outcome(
            mode: mode,
            news: SurvivalNews(
                seconds: killed ? 0.5 : 5,
                tally: tally,
                library: mode == .with && !killed ? part : nil,
                isFinal: !killed
            ),
            complaint: "",
            status: killed ? nil : 0,
            signal: killed ? 9 : nil,
            seconds: 6,
            peak: .mebibytes(256),
            fullest: SurvivalObserver.Sight(usageBytes: 256 << 20, anonymousBytes: 250 << 20, cacheBytes: 4 << 20),
            hits: 0,
            kills: killed ? 1 : 0
        )
    }

    private static func report(_ outcomes: Survival.Outcome...) -> SurvivalReport {
        SurvivalReport(plan: SurvivalPlan(), outcomes: outcomes, style: .plain)
    }

    @Test func killedWithoutAndFinishedWith() throws {
        let report = Self.report(Self.outcome(.without, killed: true), Self.outcome(.with, killed: false))
        #expect(report.isAsExpected)
        try Golden.expect(report.text + "\n", equals: "survive/expected.txt")
        let json = try CommandJSON.encode(SurvivalJSON(report))
        try Golden.expect(String(decoding: json, as: UTF8.self), equals: "survive/expected.json")
    }

    @Test func whatFailedToSpillIsCountedAndTheFirstFewAreTold() {
        var part = SurvivalLibraryPart()
        for index in 0..<7 {
            part.note(.failure(PressureError(code: index < 3 ? .spillFailed : .diskFull, message: "no \(index)")))
        }
        part.note(.failure(PressureError(code: .spillFailed, message: "no 0")))
        part.note(.failure(PressureError(code: .damagedCopy, message: "another matter")))
        #expect(part.spillFailures == 8)
        #expect(part.failures == (0..<5).map { "no \($0)" })
        var outcome = Self.outcome(.with, killed: false)
        outcome.news?.library = part
        outcome.news?.tally.refused = 1
        outcome.news?.tally.refusedAtEnd = 12
        let text = Self.report(outcome).text
        #expect(text.contains("8 spills failed, as reported"))
        #expect(text.contains("the disk was gone: 1 random read and, at the end, 12 values refused by name"))
    }

    @Test func anythingElseIsAFailure() {
        #expect(!Self.report(Self.outcome(.with, killed: true)).isAsExpected)
        #expect(!Self.report(Self.outcome(.without, killed: false)).isAsExpected)
        #expect(!Self.report(Self.outcome(.with, killed: false, lost: 1)).isAsExpected)
        var other = Self.outcome(.without, killed: true)
        // Killed, but not by the kernel for memory.
        other.kills = 0
        #expect(!Self.report(other).isAsExpected)
        #expect(Self.report(other).text.contains("ended by signal 9"))
    }
}

@Suite struct SurviveCommandTests {
    @Test func wrongInputIsTwo() throws {
        #expect(try Tool.run(["survive", "--times", "0"]).status == 2)
        #expect(try Tool.run(["survive", "--value-size", "1GiB"]).status == 2)
    }
}
