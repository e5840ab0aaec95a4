import Glibc
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A disk that failed after it had taken a write is told of, once, and left alone for a while.
@Suite(.timeLimit(.minutes(5))) struct LateReportTests {
    private static let message = "the spill disk failed late"

    private func bench(_ configure: (inout PressureConfiguration) -> Void = { _ in }) throws -> (FaultBench, KeptLog) {
        let kept = KeptLog()
        let base = InMemoryFileSystem()
        // Past the page cache nothing fails late.
        base.setDirectSupport(.none)
        let bench = try withLogger(Logger(label: "test") { _ in kept }) { _ in
            try FaultBench(on: base) {
                $0.bypassesPageCache = true
                $0.compression = .stored
                $0.workers = 1
                configure(&$0)
            }
        }
        bench.failsLate = true
        return (bench, kept)
    }

    /// Values that loaders make: enough for several windows to be full.
    private func fill(_ bench: FaultBench, _ round: Int = 0) throws {
        for number in 0..<5 {
            try bench.add(
                "loaded\(round).\(number)",
                makeBytes(6 << 20, seed: UInt64(number), randomBits: 8),
                isLoaded: true
            )
        }
    }

    @Test func aReclaimReportsItOnceAndSuspendsWriting() async throws {
        let (bench, log) = try bench()
        try fill(bench)
        bench.disk.set(.init(.lateError(EIO), on: .write))
        let report = await bench.warn()
        let late = report.failures.filter { $0.message.contains("after it had taken a write") }
        #expect(late.count == 1)
        #expect(late.first?.errno == EIO && late.first?.code == .spillFailed && late.first?.path == nil)
        #expect(!bench.engine.canSpill)
        #expect(log.warnings.count == 1)
        // A second of the clock later it is tried again, and a whole window on the device ends the matter.
        bench.disk.set(nil)
        bench.clock.advance(by: .seconds(2))
        #expect(bench.engine.canSpill)
        bench.readAll("healed")
        await bench.settle("healed")
    }

    /// Writes that succeed do not end the pause's growth: they say nothing about the device.
    @Test func thePauseGrowsAsLongAsWriteBackFails() async throws {
        let (bench, _) = try bench()
        bench.disk.set(.init(.lateError(EIO), on: .write))
        var pauses: [Int] = []
        for round in 0..<3 {
            try fill(bench, round)
            for value in bench.values { value.check(mayFail: false, "round \(round)") }
            await bench.warn()
            var seconds = 0
            while !bench.engine.canSpill, seconds < 100 {
                bench.clock.advance(by: .seconds(1))
                seconds += 1
            }
            pauses.append(seconds)
            for value in bench.values { value.forget() }
        }
        #expect(pauses == [1, 2, 4])
    }

    @Test func whatIsFoundInCalmTimesIsAnEventAndALine() async throws {
        let (bench, log) = try bench()
        var events = bench.manager.events.makeAsyncIterator()
        // Loaders that take long, so that copies are worth writing ahead.
        let clock = bench.clock
        for number in 0..<5 {
            let bytes = makeBytes(6 << 20, seed: UInt64(number), randomBits: 8)
            let cache = try bench.controller.cache("slow\(number)") {
                clock.advance(by: .seconds(10))
                return bytes
            }
            try cache.loadIfNeeded()
            bench.track(cache, bytes, isLoaded: true)
        }
        bench.disk.set(.init(.lateError(EIO), on: .write))
        bench.workAhead()
        try #require(!bench.engine.canSpill)
        #expect(log.warnings.filter { $0 == Self.message }.count == 1)
        guard case .failure(let failure) = await events.next() else {
            Issue.record("no event")
            return
        }
        #expect(failure.errno == EIO)
        bench.readAll("calm")
        bench.disk.set(nil)
        await bench.settle("calm")
    }

    @Test func aCacheAtItsLimitKeepsWhatTheDiskRefusesLate() async throws {
        let (bench, _) = try bench { $0.compression = nil }
        bench.disk.set(.init(.lateError(EIO), on: .write))
        let cache = try bench.controller.keyedCache(
            "mine",
            key: Int.self,
            value: [UInt8].self,
            options: .init(limit: .kibibytes(100))
        )
        for key in 0..<6 {
            let bytes = makeBytes(30_000, seed: UInt64(key))
            cache.set(bytes, for: key)
            bench.track(key, of: cache, bytes, from: { $0 }, to: { $0 })
        }
        bench.readAll("within a limit")
        #expect(!bench.engine.canSpill)
        bench.disk.set(nil)
        await bench.settle("within a limit")
    }
}
