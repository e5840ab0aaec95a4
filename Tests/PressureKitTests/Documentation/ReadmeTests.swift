#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import Testing

@testable import PressureKit

/// The README, and what it leads to, say nothing that is not so: code is compiled and run, promises name tests that exist,
/// numbers are the defaults, links and commands lead somewhere.
@Suite(.timeLimit(.minutes(15))) struct ReadmeTests {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    let readme: String

    init() throws { readme = try Self.text("README.md") }

    /// As `wc -w` counts.
    @Test func itIsShort() {
        #expect(readme.split(whereSeparator: \.isWhitespace).count <= 1500)
    }

    private static func article(_ name: String) throws -> String {
        try text("Sources/PressureKit/PressureKit.docc/\(name).md")
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// `Gallery.swift` beside this file is a link to the example's own.
    @Test func theExampleIsTheCodeThatIsCompiled() throws {
        let example = try Self.text("Examples/Minimal/Sources/Minimal/Gallery.swift")
        #expect(try Self.text("Tests/PressureKitTests/Documentation/Gallery.swift") == example)
        let blocks = Self.samples(in: readme)
        #expect(blocks.count == 2)
        #expect(blocks.last == example)
        #expect(example.split(separator: "\n").count <= 20, "It is called the 20-line example.")
        // What is to be added to a manifest: scripts/getting-started.sh builds the article's.
        let manifest = try Self.article("GettingStarted")
        for line in try #require(blocks.first).split(separator: "\n") {
            let code = String(line.split(separator: "  //")[0])
            #expect(manifest.contains(code), "\(code)")
        }
    }

    /// The test is one of Notebook's, run by scripts/example.sh.
    @Test func theTestOfAnAppIsOneThatIsRun() throws {
        let test = try Self.text("Examples/Notebook/Tests/NotebookTests/WarningTests.swift")
        #expect(Self.samples(in: try Self.article("Testing")).contains(test))
        let lines = test.split(separator: "\n").drop { !$0.hasPrefix("@Test") }
        #expect(lines.count <= 10, "It is to be short.")
    }

    /// What a service adds to its manifest is what ours has: nothing is downloaded for it.
    @Test func theServicesPackagesAreOurs() throws {
        let manifest = try Self.text("Package.swift").replacing(/\s+/, with: "")
        let lines = try Self.article("AService").matches(of: /(?m)^\.(?:package|product)\((.+)\),$/)
        #expect(lines.count == 4)
        for line in lines { #expect(manifest.contains(line.1.replacing(" ", with: "")), "\(line.0)") }
    }

    private static func samples(in text: String) -> [String] {
        text.matches(of: /(?ms)^```swift\n(.*?)^```$/).map { String($0.1) }
    }

    @Test func theTraitsThatAreOnAreNamed() throws {
        let manifest = try Self.text("Package.swift")
        let list = try #require(manifest.firstMatch(of: /\.default\(enabledTraits: \[([^\]]+)\]\)/)).1
        let traits = list.matches(of: /"([A-Za-z]+)"/).map { "`\($0.1)`" }
        #expect(traits.count == 3, "GettingStarted says three")
        for document in [readme, try Self.article("GettingStarted")] {
            for trait in traits { #expect(document.contains(trait), "\(trait)") }
        }
        let all = manifest.matches(of: /name: "([A-Za-z]+)",\s+description:/).map { "`\($0.1)`" }
        #expect(all.count > traits.count)
        for trait in all { #expect(readme.contains(trait), "\(trait)") }
    }

    /// Each number of what it is worth stands where it was measured, too.
    @Test func itsFiguresAreThoseOfTheDocumentsBehindIt() throws {
        let sections = readme.split(separator: "\n## ", omittingEmptySubsequences: false)
        let section = try #require(sections.first { $0.hasPrefix("What it is worth\n") })
        let sources = try Self.article("HowFast") + Self.text("RELIABILITY.md")
        let rows = section.matches(of: /(?m)^\| ([^|]+) \| ([^|]+) \| `.*$/)
        #expect(rows.count >= 10)
        for row in rows {
            for figure in "\(row.1) \(row.2)".matches(of: /\b[0-9]+(?:[.,][0-9]+)*(?: ?(?:MiB|GB\/s|ns|ms|%))?/) {
                #expect(sources.contains(figure.0), "\(figure.0) in \(row.0)")
            }
        }
    }

    @Test func theExampleDoesWhatItSays() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                try await openGallery()
            }
        )
        let output = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n")
        let expected = [
            "thumbnails: 8388608 bytes",
            "of 2 values",
            "drawing: spilled",
            "drawing: resident, 1.0",
        ]
        // The process prints more than the example does.
        for line in expected { #expect(output.contains { $0.contains(line) }, "no line has \"\(line)\" in \(output)") }
    }

    @Test func everyPromiseNamesTestsThatExist() throws {
        let sections = try Self.article("Guarantees").split(separator: "\n### ")
        let section = try #require(sections.first { $0.hasPrefix("How far each holds today\n") })
        let rows = section.matches(of: /(?m)^\| (P\d+) \|.*$/)
        #expect(rows.map { String($0.1) } == (1...16).map { "P\($0)" })
        try expectTests(inEach: rows.map { String($0.0) })
    }

    @Test func everyLineForThoseFromUIKitNamesTestsThatExist() throws {
        let sections = try Self.article("ForUIKitEngineers").split(separator: "\n### ")
        let section = try #require(sections.first { $0.hasPrefix("Row by row\n") })
        let rows = section.matches(of: /(?m)^\| .*$/).dropFirst().map { String($0.0) }
        #expect(rows.count >= 14)
        try expectTests(inEach: rows)
    }

    /// Each measure of SECURITY.md too, and whatever its text refers to.
    @Test func everyMeasureOfSecurityNamesTestsThatExist() throws {
        let page = try Self.text("SECURITY.md")
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("What the library does\n") })
        let rows = section.matches(of: /(?m)^\| [A-Z].*$/).map { String($0.0) }
        #expect(rows.count >= 8)
        let sources = try Self.testSources()
        for row in rows {
            let suites = row.matches(of: /`([A-Za-z]+Tests)[\/`]/)
            #expect(!suites.isEmpty, "no test is named in \(row)")
            for suite in suites {
                #expect(sources.contains { $0.contains("struct \(suite.1) {") }, "\(suite.1) does not exist")
            }
        }
        let named = page.matches(of: /`[A-Za-z]+Tests\/[A-Za-z]+`/).map { String($0.0) }
        try expectTests(inEach: named)
    }

    /// RELIABILITY.md names suites, and of what was found the tests.
    @Test func everyTestOfReliabilityExists() throws {
        let page = try Self.text("RELIABILITY.md")
        let sources = try Self.testSources()
        let suites = Set(page.matches(of: /`([A-Z][A-Za-z]+Tests)`/).map { String($0.1) })
        #expect(suites.count >= 20)
        for suite in suites {
            #expect(sources.contains { $0.contains("struct \(suite) {") }, "\(suite) does not exist")
        }
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("What the tests found\n") })
        let tests = section.matches(of: /`([a-z][A-Za-z]+)`(?= \||$| `)/).map { String($0.1) }
        #expect(tests.count >= 20)
        for test in tests {
            #expect(sources.contains { $0.contains("func \(test)(") }, "\(test) does not exist")
        }
    }

    private func expectTests(inEach rows: [String]) throws {
        let sources = try Self.testSources()
        for row in rows {
            let names = row.matches(of: /`([A-Za-z]+Tests)\/([A-Za-z]+)`/)
            #expect(!names.isEmpty, "no test is named in \(row)")
            for name in names {
                let exists = sources.contains { source in
                    source.contains("struct \(name.1) {") && source.contains("func \(name.2)(")
                }
                #expect(exists, "\(name.0) does not exist")
            }
        }
    }

    private static func testSources() throws -> [String] {
        let tests = root.appending(path: "Tests").path
        let paths = try #require(FileManager.default.enumerator(atPath: tests)).compactMap { $0 as? String }
        return try paths.filter { $0.hasSuffix("Tests.swift") }.map { try text("Tests/\($0)") }
    }

    @Test func theThresholdsAreTheDefaults() throws {
        let article = try Self.article("HowItDecides")
        let thresholds = PressureThresholds()
        for (name, band) in [("warning", thresholds.warning), ("critical", thresholds.critical)] {
            let atMost = band.atMost.map { "\($0)" } ?? ""
            let atLeast = band.atLeast > .zero ? "\(band.atLeast)" : "–"
            let row = "| \(name) | \(percent(band.enter)) | \(percent(band.leave)) | \(atMost) | \(atLeast) |"
            #expect(article.contains(row), "no row \"\(row)\"")
        }
    }

    /// Numbers in running text, in words or digits, and what they are numbers of.
    @Test func theNumbersInTheTextAreTheDefaults() throws {
        let text = try Self.article("HowItDecides").replacing(/\s+/, with: " ")
        let configuration = PressureConfiguration()
        let times = PressureTimings()
        let statements = [
            "at up to \(configuration.copyAheadRate.bytes >> 20) MiB/s, so that the next warning",
            "compressed in memory instead, up to \(configuration.compressedTier.limit.bytes >> 20) MiB in all",
            "Values are cut into chunks of \(SegmentFile.chunkSize >> 10) KiB",
            "Values of up to \(SegmentFile.longestBatched >> 10) KiB are written many at a time",
            "those of up to \(ExtentAllocator.unitSize >> 10) KiB share disk blocks",
            "A crossing counts once it has lasted \(milliseconds(times.confirmation)) ms",
            "The level falls \(seconds(times.dwell)) s after its cause has gone",
            "every \(seconds(times.warningRepeat)) s (warning) or \(seconds(times.criticalRepeat)) s (critical)",
            "pauses for \(seconds(times.fruitlessPause)) s after a round that returned less than "
                + "\(times.fruitful.bytes >> 20) MiB",
            "the next threshold, filling at \(times.fastestFill.bytes >> 30) GiB/s, "
                + "or at \(times.idleFill.bytes >> 20) MiB/s",
            "no less than \(milliseconds(times.shortestPoll)) ms and no more than \(seconds(times.longestPoll)) s.",
        ]
        for statement in statements { #expect(text.contains(statement), "no \"\(statement)\"") }
        let inWords: [(isSo: Bool, words: String)] = [
            (times.pausePerReclaim == 20, "never takes more than a twentieth of the time"),
            (configuration.warningShare == 0.25, "A warning frees at most a quarter of what could be evicted"),
            (configuration.warningShare == 0.25, "names no number frees a quarter of what could be evicted"),
            (ColdLine.interval == .seconds(10), "values that have not been used for ten seconds"),
            (Admission(clock: SystemClock()).patience == .seconds(1), "After a second it proceeds anyway"),
        ]
        for one in inWords { #expect(one.isSo && text.contains(one.words), "\"\(one.words)\" is not so, or not there") }
    }

    private func milliseconds(_ duration: Duration) -> Int64 { duration.nanoseconds / 1_000_000 }

    private func seconds(_ duration: Duration) -> Int64 { duration.nanoseconds / 1_000_000_000 }

    private func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    private static let documents =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "RELIABILITY.md"]
        + ArticleTests.articles.map { "Sources/PressureKit/PressureKit.docc/\($0.name).md" }

    @Test(arguments: documents)
    func linksAndCommandsLeadSomewhere(_ document: String) throws {
        let text = try Self.text(document)
        for link in text.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/) {
            let path = Self.root.appending(path: String(link.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link.0)")
        }
        let makefile = try Self.text("Makefile")
        // In running text, and in a block with a comment behind it.
        for command in text.matches(of: /(?m)`make ([a-z]+)|^make ([a-z]+) +#/) {
            let name = command.1 ?? command.2 ?? ""
            #expect(makefile.contains("\n\(name):"), "\(command.0)")
        }
        // GettingStarted names files of the reader's own.
        guard !document.contains("GettingStarted") else { return }
        for path in text.matches(of: /`((?:Examples|Scenarios|scripts|Sources|Tests)\/[A-Za-z0-9\/._-]+)[` ]/) {
            let place = Self.root.appending(path: String(path.1)).path
            #expect(FileManager.default.fileExists(atPath: place), "\(path.1)")
        }
    }

    @Test func everyScenarioIsListed() throws {
        let article = try Self.article("Pressuresim")
        let scenarios = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appending(path: "Scenarios").path
        ).filter { $0.hasSuffix(".yaml") }
        #expect(scenarios.count == 13, "the article says thirteen")
        for scenario in scenarios { #expect(article.contains("`Scenarios/\(scenario)`"), "\(scenario)") }
    }
}
#endif
