#if !THREAD_SANITIZER  // One thread at a time.
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A disk that takes a write, gives it back when it is asked, and fails when the bytes are to go to the device: thin
/// volumes, quotas, network file systems and dying disks do that. At each write in turn, once and for ever, over all ways
/// by which a value leaves memory: nothing that no loader makes is lost, at no time.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct LateFailureTests {
    /// How the file is written.
    struct Setup: Sendable, CustomTestStringConvertible {
        var bypasses: Bool
        var direct: InMemoryFileSystem.DirectSupport

        var testDescription: String { "\(bypasses ? "bypassing" : "cached"), direct: \(direct)" }

        static let all = [false, true].flatMap { bypasses in
            InMemoryFileSystem.DirectSupport.allCases.map { Setup(bypasses: bypasses, direct: $0) }
        }
    }

    @Test(arguments: Workflow.all, Setup.all)
    func nothingIsLostOrLeft(_ workflow: Workflow, _ setup: Setup) async throws {
        var (runs, faults) = (0, 0)
        for isLasting in [false, true] {
            var number = 0
            while true {
                number += isLasting ? EveryCallFailsTests.strideOfLasting : 1
                let context = "\(workflow.name), \(setup), write \(number)\(isLasting ? " and on" : "")"
                let base = InMemoryFileSystem()
                base.setDirectSupport(setup.direct)
                let bench = try FaultBench(on: base) {
                    workflow.configure(&$0)
                    $0.bypassesPageCache = setup.bypasses
                }
                try await workflow.prepare(bench)
                bench.failsLate = true
                bench.disk.set(.init(.lateError(EIO), on: .write, isLasting ? .from(number) : .once(number)))
                try await workflow.act(bench, context)
                let struck = bench.disk.faults
                await bench.settle(context)
                (runs, faults) = (runs + 1, faults + struck)
                if struck == 0 { break }
                try #require(number < 1000, "\(context): it never comes through")
            }
        }
        figure("late failures: \(workflow.name), \(setup): \(runs) runs, \(faults) faults")
    }
}
#endif
