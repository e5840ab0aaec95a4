import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// What the tests of this target need: root, a memory controller that may be written to, an optimized tool, and
/// somebody who asks for them. `scripts/real.sh` is that somebody; `swift test` alone skips them.
enum RealMachine {
    /// The tool to test: the one that `PRESSURESIM` names.
    static let tool = ProcessInfo.processInfo.environment["PRESSURESIM"].map { URL(fileURLWithPath: $0) }

    /// Why the tests cannot run here; `nil` when they can.
    static let objection: String? = {
        guard let tool else { return "PRESSURESIM names no tool: run scripts/real.sh" }
        guard FileManager.default.isExecutableFile(atPath: tool.path) else { return "\(tool.path) cannot be run" }
        do {
            _ = try LimitedGroup(limit: .mebibytes(16))
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// Whether they can.
    static var isAvailable: Bool { objection == nil }

    /// Where `stress-ng` is, if it is.
    static let stressor: String? = ["/usr/bin", "/usr/local/bin"].map { "\($0)/stress-ng" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// What a demonstration asks of the tool under test.
    static func survival(_ plan: SurvivalPlan = SurvivalPlan()) throws -> Survival {
        Survival(plan: plan, tool: try #require(tool))
    }
}
