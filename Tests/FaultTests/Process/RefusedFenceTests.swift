#if !THREAD_SANITIZER  // Makes or weighs processes.
import CTestShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Reads write nothing shared only with membarrier(2), which old kernels lack and seccomp filters refuse.
@Suite(.timeLimit(.minutes(5))) struct RefusedFenceTests {
    /// As many reads as one is drawn among, and some.
    private static let enough = Int(HazardRecord.drawRange.upperBound) + 2

    @Test func withoutMembarrierReadsHavePins() async throws {
        await #expect(processExitsWith: .success) {
            require(pk_refuse_membarrier(), "no seccomp")
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            let cache = try addController("app", to: manager.root).cache(
                "value",
                initialValue: makeBytes(5000, seed: 1)
            )
            for _ in 0..<Self.enough { require(try cache.withValue { $0 == makeBytes(5000, seed: 1) }, "wrong bytes") }
            require(!HazardScan.isPossible && !cache.entry.state.isBiased, "read without a pin")
            try cache.withValue { _ in require(cache.entry.pins == 1, "no pin") }
            let report = await manager.simulateMemoryWarning(.critical)
            require(report.evictedCount == 1 && cache.residency == .spilled, "\(report)")
            require(try cache.withValue { $0 == makeBytes(5000, seed: 1) }, "wrong bytes")
            exit(0)
        }
    }

    /// Nobody can know who reads what was read without a pin until then: it stays. Everything else leaves as before.
    @Test func whenMembarrierIsRefusedLaterWhatCannotBeCountedStays() async throws {
        await #expect(processExitsWith: .success) {
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            let controller = try addController("app", to: manager.root)
            let often = try controller.cache("often", initialValue: makeBytes(5000, seed: 1))
            let seldom = try controller.cache("seldom", initialValue: makeBytes(5000, seed: 2))
            for _ in 0..<Self.enough { try often.withValue { _ in } }
            require(often.entry.state.isBiased, "not read without a pin")
            require(pk_refuse_membarrier(), "no seccomp")
            for _ in 0..<3 {
                _ = await manager.simulateMemoryWarning(.critical)
                require(often.residency == .resident, "left, and may be read")
                require(seldom.residency == .spilled, "stayed")
                require(try often.withValue { $0 == makeBytes(5000, seed: 1) }, "wrong bytes")
                require(try seldom.withValue { $0 == makeBytes(5000, seed: 2) }, "wrong bytes")
            }
            // What is put in its place has readers that can be counted.
            try often.set(makeBytes(5000, seed: 3))
            for _ in 0..<Self.enough { require(try often.withValue { $0 == makeBytes(5000, seed: 3) }, "wrong bytes") }
            _ = await manager.simulateMemoryWarning(.critical)
            require(often.residency == .spilled, "stayed")
            require(try often.withValue { $0 == makeBytes(5000, seed: 3) }, "wrong bytes")
            exit(0)
        }
    }
}
#endif
