import Foundation
import Testing

@testable import SampleContent
@testable import ScenarioLanguage
@testable import pressuresim

/// Nothing that a file says makes the tool take memory or time without bounds, or crash: it is told instead.
@Suite struct BoundsTests {
    private static let tail = "controllers: *x11\ntimeline: [verify]"

    /// Lists of lists of lists: twelve lines that stand for 10^12 values.
    private static func bomb(_ end: String) -> String {
        let lists = (1...11).map { level in
            "x\(level): &x\(level) [\(Array(repeating: "*x\(level - 1)", count: 10).joined(separator: ", "))]"
        }
        return (["name: bomb", "x0: &x0 [a, b]"] + lists + [end]).joined(separator: "\n")
    }

    @Test(arguments: [tail, "? *x11\n: 1", "{*x11, a: 1}: 2"])
    func aliasesOfAliasesAreRefusedBeforeTheyAreFollowed(end: String) {
        #expect(complaints(Self.bomb(end))[0].contains("aliases that stand for too much"))
    }

    @Test func aFewAliasesAreWelcome() throws {
        let text =
            smallScenario
            .replacingOccurrences(of: "loader: none", with: "loader: &slow {cost: 1ms}")
            .replacingOccurrences(of: "loader: {cost: 1ms}", with: "loader: *slow")
        #expect(
            try scenario(text).controllers[0].caches.map(\.loader)
                == Array(repeating: .init(cost: .milliseconds(1), failure: 0), count: 2)
        )
    }

    @Test func aliasesThatStandForManyValuesAreCounted() {
        let lines = (0..<3000).map { "  - {a: \($0), b: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}" }.joined(separator: "\n")
        let text = "name: a\nlist: &l\n\(lines)\nagain: [\(Array(repeating: "*l", count: 20).joined(separator: ","))]"
        #expect(complaints(text)[0].contains("more than 200000 keys and values"))
    }

    @Test(arguments: ["[", "{a: ", "- "])
    func deepNestingIsAnErrorAndNoCrash(opening: String) {
        let text = "name:\n  " + String(repeating: opening, count: 50_000)
        #expect(complaints(text).first?.hasPrefix("test.yaml:") == true)
    }

    @Test func nestingThatTheParserTakesIsReadWithoutACrash() {
        let list = String(repeating: "{children: [", count: 480) + String(repeating: "]}", count: 480)
        #expect(!complaints("name: deep\ntimeline: [verify]\ncontrollers: [\(list)]").isEmpty)
    }

    @Test(arguments: [
        ("count: 1000000, size: 4KiB", "1,000,000 values"), ("keyed: {keys: 1000000}, size: 4KiB", "1,000,000 values"),
        ("size: 64GiB", "1,024 GiB"),
    ])
    func whatCountsAmountToIsBounded(cache: String, allowed: String) {
        let text = """
            name: Many
            controllers:
              - name: a
                count: 1000
                caches: [{name: c, \(cache), content: text, loader: none}]
            timeline: [verify]
            """
        let lines = complaints(text)
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("test.yaml:3:11: found ") && lines[0].contains(allowed), "\(lines)")
    }

    @Test func countsWithinCountsDoNotOverflow() {
        var text = "name: Many\ntimeline: [verify]\ncontrollers:\n"
        for level in 0..<200 {
            let indent = String(repeating: "  ", count: 2 * level + 1)
            text += "\(indent)- name: a\(level)\n\(indent)  count: 100000\n\(indent)  children:\n"
        }
        text +=
            String(repeating: "  ", count: 401)
            + "- {name: z, caches: [{name: c, count: 1000000, size: 64GiB, content: text, loader: none}]}"
        #expect(complaints(text).count == 1)
        #expect(complaints(text)[0].contains("at most 100,000 controllers"))
    }

    /// A value takes more than its bytes, and a page that is hardly filled takes all of a page.
    @Test(arguments: [
        ("size: 1B", CacheSpec.Storage.array, 1.0), ("size: 4095B", .array, 4095), ("size: 1B to 4KiB", .pages, 4096),
        ("size: 5000B", .pages, 8192), ("size: 1B, storage: pages", .pages, 4096),
        ("size: 8KiB, storage: array", .array, 8192),
    ])
    func smallValuesAreCountedAsTheyAreHeld(size: String, storage: CacheSpec.Storage, bytes: Double) throws {
        let text = """
            name: Small
            controllers:
              - name: a
                caches: [{name: c, keyed: {keys: 1000}, \(size), content: text, loader: none}]
            timeline: [verify]
            """
        let scenario = try ScenarioFile.parse(text, file: "test.yaml")
        #expect(scenario.controllers[0].caches[0].storage == storage)
        #expect(ScenarioSize(scenario.controllers).residentBytes == 1000 * (bytes + ScenarioSize.overhead))
    }

    @Test func valuesOfManyCachesDoNotOverflow() {
        let cache = "count: 1000000, keyed: {keys: 1000000}, size: 4KiB, content: text, loader: none"
        let caches = (0..<200).map { "{name: c\($0), \(cache)}" }.joined(separator: ", ")
        let text = "name: Many\ntimeline: [verify]\ncontrollers: [{name: a, count: 100000, caches: [\(caches)]}]"
        #expect(complaints(text).map { $0.contains("at most 1,000,000 values") } == [true])
    }

    @Test(arguments: [
        "size: 99999999999999999999999999999GiB", "size: 1B to 99999999999999999999999999GiB",
        "size: 1e300GiB", "size: .GiB", "size: nanGiB", "size: infGiB", "count: 99999999999999999999999", "count: -1",
        "count: 1e3", "count: 0x10",
    ])
    func numbersBeyondAllBoundsAreRefused(value: String) {
        let key = value.prefix { $0 != ":" }
        let old = key == "size" ? "size: 64KiB" : "count: 3"
        #expect(complaints(smallScenario.replacingOccurrences(of: old, with: value)).count == 1, "\(value)")
    }

    @Test func aPatternOfManyStarsTakesNoTimeToSpeakOf() {
        let name = String(repeating: "a", count: 100)
        let pattern = String(repeating: "a*", count: 50) + "b"
        let deep = Array(repeating: "a", count: 200).joined(separator: "/")
        #expect(!PathGlob(pattern).matches(name))
        #expect(!PathGlob(String(repeating: "**/a/", count: 60) + "b").matches(deep))
        #expect(PathGlob(String(repeating: "**/a/", count: 60) + "**").matches(deep))
    }

    @Test func aFileWithoutAnEndIsNotReadToIt() {
        let refusal = #expect(throws: ScenarioError.self) { try ScenarioFile.read(path: "/dev/zero") }
        #expect(refusal?.description.contains("no file that can be read: Not a regular file") == true)
    }

    @Test func aFileThatIsTooLongIsNotReadToItsEnd() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("long.yaml")
            try Data(repeating: 0x20, count: (1 << 20) + 1).write(to: file)
            let refusal = #expect(throws: ScenarioError.self) { try ScenarioFile.read(path: file.path) }
            #expect(refusal?.description.contains("a file of more than 1024 KiB") == true)
            #expect(throws: BoundedInput.Refusal.tooLarge) { try BoundedInput.read(file.path, atMost: 1 << 20) }
            #expect(try BoundedInput.read(file.path, atMost: 9 << 20, if: { _ in false }).count == 1 << 20)
        }
    }

    /// Opening a pipe waits for who writes to it.
    @Test(.timeLimit(.minutes(1))) func aNamedPipeIsNotWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("pipe").path
            let made = unsafe mkfifo(path, 0o600)  // the string outlives the call
            try #require(made == 0)
            #expect(throws: BoundedInput.Refusal.unreadable("Not a regular file")) {
                try BoundedInput.read(path, atMost: 1)
            }
        }
    }

    /// Nor are a trace, a recording and a bench's history: a device has no size and no end.
    @Test func whatHasNoEndIsRefusedWhereverItIsNamed() throws {
        #expect(throws: ContentError.self) { try TraceKeys(path: "/dev/zero") }
        #expect(throws: BenchHistory.Unreadable.self) { try BenchHistory.read("/dev/zero") }
        let replayed = try Tool.run(["replay", "/dev/zero"])
        #expect(replayed.status == 2)
        #expect(replayed.errors.contains("/dev/zero: cannot be read: Not a regular file."))
    }

    @Test func aCorpusCannotClaimFilesOfAnySize() async throws {
        try await withTemporaryDirectory { directory in
            let index = #"{"entries": [{"name": "a", "class": "x", "size": 9223372036854775807}]}"#
            try Data(index.utf8).write(to: directory.appendingPathComponent("index.json"))
            let outcome = try Tool.run(["bench", "--quick", "--corpus", directory.path])
            #expect(outcome.status == 3 || outcome.status == 2, "\(outcome)")
            #expect(outcome.errors.contains("a size that no file has"))
        }
    }

    @Test func aDirectoryIsNoScenario() {
        let refusal = #expect(throws: ScenarioError.self) { try ScenarioFile.read(path: "/tmp") }
        #expect(refusal?.description.contains("no file that can be read: Is a directory") == true)
        let missing = #expect(throws: ScenarioError.self) { try ScenarioFile.read(path: "/no/such/file") }
        #expect(missing?.description.contains("no file that can be read: No such file or directory") == true)
    }

    @Test func longTextsAndNamesAreRefused() {
        let long = String(repeating: "x", count: 5000)
        #expect(complaints(smallScenario.replacingOccurrences(of: "Small", with: long))[0].contains("5000 characters"))
        #expect(complaints(smallScenario.replacingOccurrences(of: "name: kept", with: "name: \(long)")).count == 1)
    }

    /// Whatever is done to a scenario's bytes, the reader answers: a scenario, or what is wrong with it.
    @Test func mutilatedScenariosAreReadOrRefused() {
        var random = SplitMix64(seed: 2026)
        let bytes = Array(everyKey.utf8)
        for _ in 0..<400 {
            var broken = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<broken.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: broken.remove(at: place)
                case 1: broken[place] = UInt8.random(in: 32...126, using: &random)
                case 2: broken.insert(UInt8.random(in: 9...126, using: &random), at: place)
                default: broken.removeSubrange(place..<min(place + 20, broken.count))
                }
            }
            let lines = complaints(String(decoding: broken, as: UTF8.self))
            #expect(lines.allSatisfy { $0.hasPrefix("test.yaml:") && $0.contains("; allowed here: ") }, "\(lines)")
        }
    }
}
