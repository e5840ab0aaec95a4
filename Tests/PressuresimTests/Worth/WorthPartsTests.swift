import Foundation
import PressureKit
import Testing

@testable import SampleContent
@testable import pressuresim

/// Memory that goes up and down, in virtual time.
@Suite struct WorthSwingTests {
    private static let swing = WorthSwing(peak: .mebibytes(30), rate: 10 * 1_048_576, rest: 2)

    @Test(
        arguments: [
            (0, 0), (2, 0), (2.05, 0.5), (3, 10), (5, 30), (6.9, 30), (7, 0), (8.5, 0), (9.5, 5), (14, 0), (-1, 0),
        ] as [(Double, Double)]
    )
    func itRestsRisesRestsAndFalls(at seconds: Double, mebibytes: Double) {
        #expect(abs(Double(Self.swing.target(at: seconds)) / 1_048_576 - mebibytes) < 1e-3)
    }

    @Test func aPeriodIsTwoRestsAndARise() {
        #expect(Self.swing.rise == 3)
        #expect(Self.swing.period == 7)
        #expect(Self.swing.pause == .milliseconds(100))
    }

    /// A thread that follows it takes a piece at a time, never more than the target, and gives all back at once.
    @Test(arguments: [0.1, 0.037, 0.5, 3.3]) func whoeverFollowsItNeverHoldsMore(pause: Double) {
        var held = 0
        var most = 0
        var releases = 0
        for index in 0..<Int(70 / pause) {
            let now = Double(index) * pause
            switch Self.swing.step(held: held, at: now) {
            case .take: held += WorthSwing.piece
            case .keep: break
            case .release:
                held = 0
                releases += 1
            }
            #expect(held <= max(Self.swing.target(at: now), 0))
            most = max(most, held)
        }
        if pause <= 0.1 {
            #expect(most == Self.swing.peak.bytes)
            #expect((9...10).contains(releases))
        }
    }

    @Test func whatIsMeasuredAreWholePeriods() throws {
        let cell = WorthCell(limit: .mebibytes(256), valueSize: .kibibytes(32), zipf: 0.9, readers: 1)
        let plan = WorthPlan()
        #expect(plan.swing(.still, cell) == nil)
        let swing = try #require(plan.swing(.swing, cell))
        #expect(swing.peak.bytes == cell.limit.bytes / 5 * 3)
        let times = plan.times(plan.times, with: swing)
        #expect(times.measured >= plan.times.measured)
        #expect((times.measured / swing.period).rounded() * swing.period == times.measured)
        #expect(plan.times(plan.probe, with: swing).measured == swing.period)
        #expect(plan.times(plan.probe, with: nil) == plan.probe)
        #expect(times.isSteady && !plan.times(plan.probe, with: swing).isSteady)
    }

    @Test func whatIsToldIsTheSteadyState() {
        let plan = WorthPlan()
        #expect(plan.times.warm(afterFilling: 6) == 12)
        #expect(plan.times.warm(afterFilling: 0.1) == plan.times.warm)
        #expect(plan.times.warm(afterFilling: 100) == 30)
        // What looks for a bound need not wait for that.
        #expect(plan.probe.warm(afterFilling: 6) == plan.probe.warm)
    }

    @Test func everyValueIsReadBeforeWhatIsToldAndAsManyAsFitBeforeAProbe() {
        let (plan, quick) = (WorthPlan(), WorthPlan.quick)
        let cell = WorthCell(limit: .mebibytes(512), valueSize: .mebibytes(1), zipf: 0.9, readers: 1)
        let content = WorthContent(path: "/nowhere", valueSize: 1 << 20, count: cell.values, slot: 4096)
        let run = WorthRun(kind: .shared4, cell: cell, content: content)
        for times in [plan.times, quick.times] {
            let job = run.job(.kit, .zero, 3, times)
            #expect(job.fillCount == job.count && job.count == cell.values / 4)
        }
        for times in [plan.probe, quick.probe] { #expect(run.job(.lru, .zero, 0, times).fillCount == 128) }
    }
}

/// Which value is read.
@Suite struct WorthKeysTests {
    @Test(arguments: [1, 2, 3, 4, 10, 97, 1024, 7373, 65_536])
    func everyRankHasAKeyOfItsOwn(count: Int) {
        let keys = WorthKeys(count: count, alpha: 0.9)
        #expect(Set((1...count).map(keys.key)).count == count)
        #expect((1...count).allSatisfy { 0..<count ~= keys.key(ofRank: $0) })
    }

    @Test func thePopularOnesAreNotBesideEachOther() {
        let keys = WorthKeys(count: 10_000, alpha: 0.9)
        let popular = (1...100).map(keys.key).sorted()
        #expect(zip(popular, popular.dropFirst()).allSatisfy { $1 - $0 >= 30 })
    }

    @Test func theFirstRankIsReadMost() {
        let keys = WorthKeys(count: 1000, alpha: 0.9)
        var random = SplitMix64(seed: 1)
        var reads: [Int: Int] = [:]
        for _ in 0..<20_000 { reads[keys.next(&random), default: 0] += 1 }
        #expect(reads.max { $0.value < $1.value }?.key == keys.key(ofRank: 1))
        #expect(reads.count > 900)
    }
}

/// The opponent.
@Suite struct WorthLRUTests {
    /// Against a list that is searched from end to end.
    @Test(arguments: [1, 2, 3] as [UInt64]) func theLeastRecentlyUsedGoesFirst(seed: UInt64) throws {
        let loads = Lock<[Int]>([])
        let lru = WorthLRU(bound: .bytes(1000)) { key in
            loads.withLock { $0.append(key) }
            return Array(repeating: UInt8(key), count: 50 + key * 3)
        }
        var random = SplitMix64(seed: seed)
        var model: [Int] = []
        func size(_ key: Int) -> Int { 50 + key * 3 }
        for _ in 0..<5000 {
            let key = Int.random(in: 0..<40, using: &random)
            let before = loads.withLock(\.count)
            let isRight = try lru.read(key) { $0.count == size(key) && $0.allSatisfy { $0 == UInt8(key) } }
            #expect(isRight)
            let wasThere = model.contains(key)
            #expect(loads.withLock(\.count) - before == (wasThere ? 0 : 1), "seed \(seed)")
            model.removeAll { $0 == key }
            model.append(key)
            while model.reduce(0, { $0 + size($1) }) > 1000 { model.removeFirst() }
            #expect(lru.byteCount.bytes == model.reduce(0) { $0 + size($1) })
        }
        lru.removeAll()
        #expect(lru.byteCount == .zero)
        let before = loads.withLock(\.count)
        #expect(try lru.read(1) { $0.count == size(1) })
        #expect(loads.withLock(\.count) == before + 1, "and goes on as a new one")
    }

    @Test func aValueThatIsLargerThanTheBoundIsGivenAndNotKept() throws {
        let lru = WorthLRU(bound: .bytes(10)) { _ in Array(repeating: 1, count: 11) }
        #expect(try lru.read(0) { $0.count == 11 })
        #expect(lru.byteCount == .zero)
    }

    @Test func aLoadThatFailsLeavesNothing() throws {
        let lru = WorthLRU(bound: .bytes(10)) { _ in throw SurvivalLoss() }
        #expect(throws: SurvivalLoss.self) { try lru.read(0) { _ in true } }
        #expect(lru.byteCount == .zero)
    }
}

/// The values that are loaded.
@Suite struct WorthContentTests {
    @Test(arguments: [1024, 4096, 32_768, 100_001]) func eachValueIsItsOwnAndOfTheRightSize(size: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("values").path
            let content = try WorthContent(path: path, valueSize: .bytes(size), count: 40)
            #expect(content.slot.isMultiple(of: 4096))
            for key in 0..<40 {
                let value = try content.load(key)
                #expect(value.count == size)
                #expect(content.knows(value, as: key))
                #expect(!content.knows(value, as: (key + 16) % 40), "another value of the same pattern")
                #expect(!content.knows(value.dropLast() + [], as: key))
                var changed = value
                changed[size - 1] ^= 1
                #expect(!content.knows(changed, as: key))
            }
            #expect(throws: WorthContent.Failure.self) { try content.load(40) }
        }
    }

    /// Or inflate would have nothing to do, or nothing to gain.
    @Test func valuesShrinkByHalfOrSo() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("values").path
            let content = try WorthContent(path: path, valueSize: .mebibytes(1), count: 2)
            #expect((450_000..<700_000).contains(content.slot))
        }
    }

    @Test func aDirectoryThatCannotBeWrittenToIsRefused() {
        #expect(throws: EnvironmentRefusal.self) { try WorthFiles(in: "/dev/null") }
        #expect(throws: EnvironmentRefusal.self) {
            try WorthContent(path: "/no/such/directory/values", valueSize: .kibibytes(4), count: 4)
        }
    }

    @Test func filesAreMadeOnceForASizeAndGoneAtTheEnd() async throws {
        try await withTemporaryDirectory { directory in
            let files = try WorthFiles(in: directory.path)
            func cell(_ values: Int) -> WorthCell {
                WorthCell(limit: .mebibytes(1), valueSize: .kibibytes(4), zipf: 1, readers: 1, values: values)
            }
            let first = try files.content(of: cell(10), .quiet)
            #expect(try files.content(of: cell(5), .quiet) == first)
            let larger = try files.content(of: cell(20), .quiet)
            #expect(larger.count == 20)
            #expect(!FileManager.default.fileExists(atPath: first.path))
            files.remove()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        }
    }
}
