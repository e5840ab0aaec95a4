#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import Glibc
import PressureKitTesting
import Testing

@testable import PressureKit

/// Every call to the disk fails in turn, once and for ever, until a run comes through without a fault; after each run no
/// value is lost, and nothing is left of those that are gone.
///
/// The method is SQLite's ("How SQLite Is Tested", I/O error tests).
@Suite(.serialized, .timeLimit(.minutes(60)))  // with all error numbers; some seconds without
struct EveryCallFailsTests {
    /// With `PRESSUREKIT_FAULTS=all` each error number fails each call; else they take turns from call to call.
    static let isExhaustive = ProcessInfo.processInfo.environment["PRESSUREKIT_FAULTS"] == "all"

    /// Which calls are the first of those that fail for ever: all, or every third.
    static let strideOfLasting = isExhaustive ? 1 : 3

    /// What a disk, a quota or a kernel short of something answers.
    static let errors = [ENOSPC, EDQUOT, EIO, EMFILE, EINTR, EAGAIN, ENOMEM]

    /// A kind of fault, the calls it may strike, and whether there is more to learn from its striking all that follow.
    struct Kind: Sendable {
        var name: String
        var operation: FaultyFileSystem.Operation?
        var lasts = false
        /// What happens to the call with a number.
        var fault: @Sendable (Int) -> FaultyFileSystem.Fault
    }

    static let kinds: [Kind] = {
        let numbers =
            isExhaustive
            ? errors.map { number in Kind(name: "errno \(number)", lasts: true) { _ in .error(number) } }
            : [Kind(name: "errors", lasts: true) { .error(errors[$0 % errors.count]) }]
        let lies = [FaultyFileSystem.Fault.lyingWrite, .lostWrite, .wrongWrite]
        let writes =
            isExhaustive
            ? lies.map { lie in Kind(name: "\(lie)", operation: .write, lasts: true) { _ in lie } }
            : [Kind(name: "false writes", operation: .write) { lies[$0 % lies.count] }]
        return numbers + writes + [
            Kind(name: "short write", operation: .write, lasts: isExhaustive) { _ in .short },
            Kind(name: "short read", operation: .read, lasts: isExhaustive) { _ in .short },
            Kind(name: "wrong read", operation: .read, lasts: isExhaustive) { _ in .bitFlip },
        ]
    }()

    @Test(arguments: Workflow.all)
    func nothingIsLostOrLeft(_ workflow: Workflow) async throws {
        var (runs, faults) = (0, 0)
        for kind in Self.kinds {
            for isLasting in kind.lasts ? [false, true] : [false] {
                var number = 0
                while true {
                    number += isLasting ? Self.strideOfLasting : 1
                    let context = "\(workflow.name), \(kind.name), call \(number)\(isLasting ? " and on" : "")"
                    let bench = try FaultBench(configure: workflow.configure)
                    try await workflow.prepare(bench)
                    let fault = kind.fault(number)
                    bench.disk.set(.init(fault, on: kind.operation, isLasting ? .from(number) : .once(number)))
                    bench.isHarmless = fault == .short
                    try await workflow.act(bench, context)
                    let struck = bench.disk.faults
                    await bench.settle(context)
                    (runs, faults) = (runs + 1, faults + struck)
                    if struck == 0 { break }
                    try #require(number < 1000, "\(context): it never comes through")
                }
            }
        }
        #expect(faults > 0, "no call was struck: the test tests nothing")
        figure("every call fails: \(workflow.name): \(runs) runs, \(faults) faults")
    }
}
#endif
