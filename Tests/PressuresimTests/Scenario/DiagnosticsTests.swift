import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct DiagnosticsTests {
    /// A slip in ``smallScenario``: what is replaced by what, and the message's parts.
    struct Slip: Sendable, CustomTestStringConvertible {
        var old: String
        var new: String
        var place: String
        var found: String
        var allowed: String
        var suggestion: String?
        var testDescription: String { found }

        init(_ old: String, _ new: String, at place: String, _ found: String, _ allowed: String, _ hint: String? = nil)
        {
            (self.old, self.new, self.place) = (old, new, place)
            (self.found, self.allowed, self.suggestion) = (found, allowed, hint)
        }
    }

    static let slips = [
        Slip(
            "    visible: true",
            "    visable: true",
            at: "5:5",
            "unknown key \"visable\" in a controller",
            "name, count, visible, caches, children",
            "visible"
        ),
        Slip("visible: true", "visible: yes", at: "5:14", "\"yes\"", "true, false, first"),
        Slip("size: 64KiB", "size: 64KB", at: "9:15", "\"64KB\"", "B, KiB, MiB, GiB", "64KiB"),
        Slip("size: 64KiB", "size: 64", at: "9:15", "\"64\"", "a size with its unit"),
        Slip("size: 64KiB", "size: 128GiB", at: "9:15", "\"128GiB\"", "from 1B to 64GiB"),
        Slip(
            "size: 8KiB to 32KiB",
            "size: 32KiB to 8KiB",
            at: "13:15",
            "\"32KiB to 8KiB\"",
            "a range that goes up: 8KiB to 32KiB"
        ),
        Slip("size: 64KiB", "size: 10EiB", at: "9:15", "\"10EiB\"", "B, KiB, MiB, GiB", "10GiB"),
        Slip("size: 64KiB", "size: \"\\e[2J\"", at: "9:15", "\"\\u{1b}[2J\"", "a size with its unit"),
        Slip("count: 3", "count: many", at: "8:16", "\"many\"", "a whole number from 1 to 1000000"),
        Slip("count: 3", "count: 0", at: "8:16", "\"0\"", "a whole number from 1 to 1000000"),
        Slip("compressibility: 0.5", "compressibility: 1.5", at: "10:48", "\"1.5\"", "a share from 0 to 1"),
        Slip(
            "synthetic",
            "sinthetic",
            at: "10:19",
            "unknown key \"sinthetic\"",
            "text, files: …, synthetic: …",
            "synthetic"
        ),
        Slip("content: text", "content: txt", at: "14:18", "\"txt\"", "text, files", "text"),
        Slip(
            "        loader: none\n",
            "",
            at: "7:9",
            "a cache without \"loader\"",
            "loader: none, or a mapping for a loader"
        ),
        Slip("loader: none", "loader: non", at: "11:17", "\"non\"", "none", "none"),
        Slip("cost: 1ms", "cost: 1", at: "15:24", "\"1\"", "a duration with its unit (ns, us, µs, ms, s, min, h)"),
        Slip("cost: 1ms", "cost: 1MS", at: "15:24", "\"1MS\"", "a duration with its unit", "1ms"),
        Slip("name: kept", "name: a/b", at: "7:15", "\"a/b\"", "a name of letters, digits"),
        Slip("name: made", "name: kept-2", at: "12:15", "a second cache \"kept-2\"", "names unique in it"),
        Slip("warning: critical", "warning: critcal", at: "18:14", "\"critcal\"", "warning, critical", "critical"),
        Slip("warning: critical", "warnin: critical", at: "18:5", "unknown key \"warnin\"", "background", "warning"),
        Slip("warning: critical", "foregroud", at: "18:5", "\"foregroud\"", "foreground", "foreground"),
        Slip(
            "warning: critical",
            "fill: {until: warning, at_most: 1MiB}",
            at: "18:5",
            "a fill while memory is simulated",
            "memory: real"
        ),
        Slip(
            "- access: {of: shelf/*}",
            "- access:\n    of: shelf/*",
            at: "17:5",
            "a step with 2 keys (access, of)",
            "exactly one of"
        ),
        Slip(
            "of: shelf/*",
            "of: shelf/kep-*",
            at: "17:18",
            "\"shelf/kep-*\", which matches no cache",
            "shelf/kept-*, shelf/made",
            "shelf/kept-*"
        ),
        Slip("of: shelf/*", "of: shelf/*, pattern: zip", at: "17:36", "\"zip\"", "sequential, uniform, zipf", "zipf"),
        Slip(
            "of: shelf/*",
            "of: shelf/*, pattern: {zipf: {alpha: 0}}",
            at: "17:51",
            "\"0\"",
            "a number from 0.05 to 10"
        ),
        Slip(
            "of: shelf/*",
            "of: shelf/*, pattern: {trace: no.keys}",
            at: "17:18",
            "a trace \"no.keys\"",
            "one key a line"
        ),
        Slip(
            "access: {of: shelf/*}",
            "update: {of: shelf/made}",
            at: "17:18",
            "matches no cache without a loader",
            "shelf/kept-*"
        ),
        Slip("lost: == 0", "losst: == 0", at: "20:3", "unknown figure \"losst\"", "lost, verified", "lost"),
        Slip("lost: == 0", "lost: 0", at: "20:9", "\"0\"", "a comparison (== != <= >= < >)"),
        Slip("lost: == 0", "hit_p99: < 50", at: "20:12", "\"< 50\"", "a duration with its unit"),
        Slip("lost: == 0", "claimed: '> 5ms'", at: "20:12", "\"> 5ms\"", "a size with its unit"),
        Slip("lost: == 0", "lost: == 0\n  lost: == 1", at: "21:3", "\"lost\" for the second time", "each key once"),
        Slip("name: Small\n", "", at: "1:1", "a scenario without \"name\"", "name: a title"),
        Slip(
            "content: text",
            "content: {files: nowhere/at/all}",
            at: "12:15",
            "no directory that can be read",
            "default corpus"
        ),
        Slip(
            "controllers:",
            "memory: {taken_since_start: {warning: {enter: 2MiB, leave: 1MiB}, "
                + "critical: {enter: 1MiB, leave: 512KiB}}}\ncontrollers:",
            at: "3:77",
            "a critical band that does not lie beyond",
            "more bytes gone"
        ),
        Slip(
            "size: 64KiB",
            "size: 64KiB\n        keyed: {keys: 5, limit: 32KiB}",
            at: "10:16",
            "a limit of 32.0 KiB for values of up to 64.0 KiB",
            "holds at least one value"
        ),
        Slip("cost: 1ms", "cost: 2ms to 1ms", at: "15:24", "\"2ms to 1ms\"", "a range that goes up: 1ms to 2ms"),
        Slip("compressibility", "compresibility", at: "10:31", "unknown key", "entropy: …", "compressibility"),
        Slip("warning: critical", "disk: ful", at: "18:11", "\"ful\"", "normal, full, slow: …, failing: …", "full"),
        Slip("warning: critical", "disk: {slow: 10MB}", at: "18:18", "\"10MB\"", "a rate with its unit", "10MB/s"),
        Slip("warning: critical", "hog: {rate: 5MB/s}", at: "18:10", "a hog without \"size\"", "size: a size"),
        Slip(
            "warning: critical",
            "present: shelf",
            at: "18:14",
            "\"shelf\", which matches no controller that is listed in presents",
            "nothing"
        ),
        Slip(
            "warning: critical",
            "transition: {from: shelf, to: shelf}",
            at: "18:35",
            "a transition from \"shelf\" to \"shelf\"",
            "two different children"
        ),
        Slip(
            "warning: critical",
            "together: [{together: [verify]}]",
            at: "18:16",
            "together within together",
            "any other step"
        ),
        Slip("warning: critical", "together: [relaunch]", at: "18:16", "relaunch within together", "of its own"),
        Slip("seed: 5", "policy: lur", at: "2:9", "\"lur\"", "cost, lru, sieve", "lru"),
        Slip("seed: 5", "memory: {cgroup_limit: 1MiB}", at: "2:24", "\"1MiB\"", "a limit of at least 64.0 MiB"),
        Slip(
            "warning: critical\n",
            "hog: {size: 40MiB}\nmemory: {cgroup_limit: 64MiB}\n",
            at: "18:5",
            "a hog of 40.0 MiB in a cgroup of 64.0 MiB",
            "at most half of the limit"
        ),
        Slip(
            "warning: critical\n",
            "verify\nmemory: {cgroup_limit: 200KiB}\n",
            at: "19:24",
            "\"200KiB\"",
            "a limit of at least"
        ),
        Slip(
            "of: shelf/*",
            "of: \"shelf/kept-1[1]\"",
            at: "17:18",
            "which matches no cache",
            "shelf/kept-*",
            "shelf/kept-*"
        ),
        Slip("- access: {of: shelf/*}", "- access: {of: shelf/*, every: 2h}", at: "17:34", "\"2h\"", "up to 60min"),
        Slip("lost: == 0", "lost: < 0", at: "20:9", "\"< 0\", which cannot be", "some value from 0 on"),
        Slip("lost: == 0", "hits: '>= 5 and < 5'", at: "20:9", "which cannot be", "some value from 0 on"),
        Slip("lost: == 0", "hit_rate: '>= 70'", at: "20:13", "which cannot be", "it is a share"),
    ]

    @Test(arguments: slips)
    func aSlipIsToldWithItsPlaceWhatIsAllowedThereAndTheNearestSpelling(_ slip: Slip) throws {
        let text = smallScenario.replacingOccurrences(of: slip.old, with: slip.new)
        try #require(text != smallScenario)
        let lines = complaints(text)
        try #require(lines.count == 1, "\(lines)")
        #expect(lines[0].hasPrefix("test.yaml:\(slip.place): found "), "\(lines[0])")
        #expect(lines[0].contains(slip.found), "\(lines[0])")
        #expect(lines[0].contains("allowed here: "), "\(lines[0])")
        #expect(lines[0].contains(slip.allowed), "\(lines[0])")
        if let suggestion = slip.suggestion {
            #expect(lines[0].hasSuffix("did you mean \"\(suggestion)\"?"), "\(lines[0])")
        } else {
            #expect(!lines[0].contains("did you mean"), "\(lines[0])")
        }
    }

    @Test func allSlipsAreToldAtOnceInTheOrderOfTheFile() {
        let text =
            smallScenario
            .replacingOccurrences(of: "visible", with: "visable")
            .replacingOccurrences(of: "64KiB", with: "64")
            .replacingOccurrences(of: "1ms", with: "fast")
            .replacingOccurrences(of: "critical", with: "fatal")
            .replacingOccurrences(of: "== 0", with: "nothing")
        let places = complaints(text).map { $0.split(separator: ":")[1] }
        #expect(places == ["5", "9", "15", "18", "20"])
    }

    @Test func aListHasAsManyElementsAsItNeeds() {
        let text = "name: a\ncontrollers: [{name: b, caches: [{name: c, size: 1KiB, content: text, loader: none}]}]"
        #expect(
            complaints(text + "\ntimeline: []") == [
                "test.yaml:3:11: found a list of 0 steps; allowed here: a list of 1 to 10000 steps"
            ]
        )
    }

    @Test func aCacheWithASlipIsNotAlsoMissedByThePatternsForIt() {
        let text =
            smallScenario
            .replacingOccurrences(of: "64KiB", with: "64")
            .replacingOccurrences(of: "of: shelf/*", with: "of: shelf/kept-*")
        #expect(complaints(text).count == 1)
    }

    @Test(arguments: [
        ("", "test.yaml:1:1: found an empty file"),
        ("- a list", "test.yaml:1:1: found a list"),
        ("just text", "test.yaml:1:1: found \"just text\""),
        ("name: [unclosed", "test.yaml:2:1"),
        ("name: a\n\tseed: 1", "test.yaml:2:1"),
        ("name: \"\\q\"", "test.yaml:1:"),
    ])
    func aFileThatIsNoScenarioIsToldLikeAnySlip(text: String, beginning: String) throws {
        let line = try #require(complaints(text).first)
        #expect(line.hasPrefix(beginning), "\(line)")
        #expect(line.contains("allowed here: "))
    }

    /// YAML's own errors, in words that say what to write.
    @Test(arguments: [
        ("name: a\n\tseed: 1", "2:1: found a tab; allowed here: spaces to indent"),
        ("name: a\nx: - 1", "2:4: found a - behind a key; allowed here: the list in lines of its own"),
        ("name: a\nx: >= 1\ny: 2", "2:5: found a text that begins with > or |; allowed here: the text in quotes"),
        ("name: a\nx: @b", "2:4: found a text that begins with @; allowed here: the text in quotes"),
        ("name: a: b", "1:8: found a second \": \" in one line; allowed here: one key a line"),
        ("name: \"a\nx: 1", "2:5: found a quote that is not closed"),
        ("name: *a", "1:7: found an alias (*) without its anchor (&)"),
        ("name: a\n---\nname: b", "2:1: found a second document"),
        ("name: [a, b", "2:1: found a list [ that is not closed"),
        ("name: {a: b", "2:1: found a mapping { that is not closed"),
        ("name: a\nx\ny: 1", "3:1: found a line that is no key with a value"),
        ("a:\n  b: 1\n c: 1", "3:2: found a line that is indented otherwise"),
        ("name: a\nx: \u{0}", "2:4: found a control character"),
        ("name: " + String(repeating: "[", count: 5000), "found a value nested too deeply; allowed here: fewer levels"),
    ])
    func yamlsOwnErrorsAreToldInPlainWords(text: String, words: String) throws {
        let line = try #require(complaints(text).first)
        #expect(line.contains(words), "\(line)")
    }

    @Test func aLineIsCountedInFilesOfEveryKind() {
        #expect(complaints("name: a\r\nx: \u{1}")[0].hasPrefix("test.yaml:2:4: "))
        let aliases = "a: &a [1]\nb: 1\nc: [" + Array(repeating: "*a", count: 5000).joined(separator: ",") + "]"
        #expect(complaints(aliases)[0].hasPrefix("test.yaml:3:1: found aliases that stand for too much"))
    }

    /// What a terminal would obey is written out, wherever it is read.
    @Test func titlesAreText() throws {
        let text = smallScenario.replacing("name: Small", with: #"name: "a\e[31m\a\u202e é 👩‍👧""#)
        #expect(try scenario(text).name == "a\\u{1b}[31m\\u{7}\\u{202e} é 👩‍👧")
    }

    @Test func aFileThatIsNotThereIsToldWithItsPath() {
        #expect(throws: ScenarioError.self) { try ScenarioFile.read(path: "/no/such/scenario.yaml") }
        do {
            _ = try ScenarioFile.read(path: "/no/such/scenario.yaml")
        } catch {
            #expect(error.description.hasPrefix("/no/such/scenario.yaml:1:1: found no file"))
        }
    }
}
