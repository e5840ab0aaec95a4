import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// The smallest scenario that does something, for tests to change.
let smallScenario = """
    name: Small
    seed: 5
    controllers:
      - name: shelf
        visible: true
        caches:
          - name: kept
            count: 3
            size: 64KiB
            content: {synthetic: {compressibility: 0.5}}
            loader: none
          - name: made
            size: 8KiB to 32KiB
            content: text
            loader: {cost: 1ms}
    timeline:
      - access: {of: shelf/*}
      - warning: critical
    expect:
      lost: == 0
    """

/// Reads a scenario that must be right.
func scenario(_ text: String) throws -> Scenario { try ScenarioFile.parse(text, file: "test.yaml") }

/// What is wrong with a scenario, one line each.
func complaints(_ text: String) -> [String] {
    do {
        _ = try ScenarioFile.parse(text, file: "test.yaml")
        return []
    } catch {
        return error.description.components(separatedBy: "\n")
    }
}

/// Bytes written by `fill`.
func bytes(_ count: Int, _ fill: (inout MutableRawSpan) throws -> Void) rethrows -> [UInt8] {
    var array = [UInt8](repeating: 0, count: count)
    try array.write(fill)
    return array
}

/// Runs `body` with a directory of its own, which is gone afterwards.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("pressuresim-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// The package's directory.
let packageDirectory = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
