import Foundation
import Testing

/// What the fuzzer has found so far, once more: inputs that reach everything that any input has reached, and those that
/// once did harm. No sanitizer is needed for that; `make fuzz` looks for more.
@Suite(.timeLimit(.minutes(5))) struct CorpusTests {
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private static func inputs(_ target: FuzzTarget) throws -> [URL] {
        let corpus = directory.appendingPathComponent("Corpus/\(target.name)")
        return try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    @Test(arguments: FuzzTarget.all) func everyInputIsReadAsItShouldBe(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(inputs.count >= 10, "the corpus is missing")
        for input in inputs {
            do throws(FuzzFailure) {
                try target.check(Array((try? Data(contentsOf: input)) ?? Data()))
            } catch {
                Issue.record("\(input.lastPathComponent): \(error)")
            }
        }
    }

    /// It is cloned by everybody.
    @Test func theCorpusIsKeptSmall() throws {
        for target in FuzzTarget.all {
            let inputs = try Self.inputs(target)
            let sizes = inputs.map { (try? Data(contentsOf: $0).count) ?? 0 }
            #expect(sizes.allSatisfy { $0 <= 8192 }, "\(target.name)")
            #expect(sizes.reduce(0, +) <= 192 << 10, "\(target.name) has \(sizes.reduce(0, +)) bytes")
        }
    }

    /// A target that never complained would be of no use: each does about what is wrong on purpose.
    @Test func whatDoesNotHoldIsSaid() {
        #expect(throws: FuzzFailure.self) { try hold(false, "on purpose") }
        #expect(throws: Never.self) { try hold(true, "on purpose") }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}
