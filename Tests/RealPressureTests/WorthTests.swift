import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// `pressuresim worth` for a few seconds: that its processes live and read what they should, not how fast.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealMachine.isAvailable, "\(RealMachine.objection ?? "")"))
struct WorthTests {
    @Test(arguments: WorthKind.allCases) func nobodyIsKilledAndNothingIsWrong(kind: WorthKind) async throws {
        var plan = WorthPlan.quick
        plan.kinds = [kind]
        plan.cells = [WorthCell(limit: .mebibytes(96), valueSize: .kibibytes(32), zipf: 0.9, readers: 2)]
        plan.times.measured = 1
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("worth-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        plan.directory = directory.path
        // Coarse: where the bound is does not matter here.
        plan.tolerance = 20
        let worth = Worth(plan: plan, tool: try #require(RealMachine.tool))
        let result = try #require(try await Blocking.run("worth") { try worth.run() }.first)
        #expect(result.isRight, "\(result.outcomes)")
        for contender in WorthContender.allCases {
            let outcome = try #require(result.outcomes(of: contender).first)
            #expect(outcome.end == .finished)
            #expect(outcome.wrong == 0 && outcome.failed == 0, "\(outcome.complaints)")
            #expect(outcome.figures.readsPerSecond > 0)
            #expect(outcome.figures.meanUse > 0 && outcome.figures.meanUse <= 1)
            #expect(!outcome.curve.readsPerSecond.isEmpty)
        }
        #expect(result.probes.contains { $0.speed != nil })
        #expect(result.outcomes(of: .kit).first?.library?.loads ?? 0 > 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }
}
