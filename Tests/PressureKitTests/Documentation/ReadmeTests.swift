import Foundation
import Testing

@testable import PressureKit

/// The README says nothing that is not so: its code is compiled and run, its promises name tests that exist, its
/// numbers are the defaults, its links and commands lead somewhere.
@Suite(.timeLimit(.minutes(15))) struct ReadmeTests {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    let readme: String

    init() throws { readme = try Self.text("README.md") }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// `Gallery.swift` beside this file is a link to the example's own.
    @Test func theExampleIsTheCodeThatIsCompiled() throws {
        let example = try Self.text("Examples/Minimal/Sources/Minimal/Gallery.swift")
        #expect(try Self.text("Tests/PressureKitTests/Documentation/Gallery.swift") == example)
        // The test is one of Notebook's, run by scripts/example.sh.
        let test = try Self.text("Examples/Notebook/Tests/NotebookTests/WarningTests.swift")
        let blocks = readme.matches(of: /(?ms)^```swift\n(.*?)^```$/).map { String($0.1) }
        #expect(blocks == [example, test])
        let lines = test.split(separator: "\n").drop { !$0.hasPrefix("@Test") }
        #expect(lines.count <= 10, "It is called a ten-line test.")
        #expect(example.split(separator: "\n").count <= 20, "It is called the 20-line example.")
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
        let rows = readme.matches(of: /(?m)^\| (P\d+) \|.*$/)
        #expect(rows.map { String($0.1) } == (1...12).map { "P\($0)" })
        try expectTests(inEach: rows.map { String($0.0) })
    }

    @Test func everyLineForThoseFromUIKitNamesTestsThatExist() throws {
        let sections = readme.split(separator: "\n## ", omittingEmptySubsequences: false)
        let section = try #require(sections.first { $0.hasPrefix("For those who come from UIKit\n") })
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

    @Test func theThresholdsAreTheDefaults() {
        let thresholds = PressureThresholds()
        for (name, band) in [("warning", thresholds.warning), ("critical", thresholds.critical)] {
            let atMost = band.atMost.map { "\($0)" } ?? ""
            let atLeast = band.atLeast > .zero ? "\(band.atLeast)" : "–"
            let row = "| \(name) | \(percent(band.enter)) | \(percent(band.leave)) | \(atMost) | \(atLeast) |"
            #expect(readme.contains(row), "no row \"\(row)\"")
        }
        let share = PressureConfiguration().warningShare
        #expect(share == 0.25, "the README says a quarter")
    }

    /// Numbers in running text, in words or digits, and what they are numbers of.
    @Test func theNumbersInTheTextAreTheDefaults() throws {
        let text = readme.replacing(/\s+/, with: " ")
        let configuration = PressureConfiguration()
        let times = PressureTimings()
        let statements = [
            "\(configuration.copyAheadRate.bytes >> 20) MiB/s at most, so that the next warning",
            "compressed in memory instead, up to \(configuration.compressedTier.limit.bytes >> 20) MiB",
            "Values are cut into chunks of \(SegmentFile.chunkSize >> 10) KiB",
            "Values of up to \(SegmentFile.longestBatched >> 10) KiB are written many at a time",
            "those of up to \(ExtentAllocator.unitSize >> 10) KiB share disk blocks",
            "A crossing must still be there \(milliseconds(times.confirmation)) ms later",
            "a level falls after \(seconds(times.dwell)) s without its cause",
            "every \(seconds(times.warningRepeat)) s (warning) or \(seconds(times.criticalRepeat)) s (critical)",
            "not for \(seconds(times.fruitlessPause)) s after one that brought back less than "
                + "\(times.fruitful.bytes >> 20) MiB",
            "the next threshold at \(times.fastestFill.bytes >> 30) GiB/s, or at \(times.idleFill.bytes >> 20) MiB/s",
            "\(milliseconds(times.shortestPoll)) ms to \(seconds(times.longestPoll)) s.",
        ]
        for statement in statements { #expect(text.contains(statement), "no \"\(statement)\"") }
        let inWords: [(isSo: Bool, words: String)] = [
            (times.pausePerRelief == 20, "relief takes more than a twentieth of the time"),
            (ColdLine.interval == .seconds(10), "values that have not been used for ten seconds"),
            (Admission(clock: SystemClock()).patience == .seconds(1), "After a second it goes on all the same"),
        ]
        for one in inWords { #expect(one.isSo && text.contains(one.words), "\"\(one.words)\" is not so, or not there") }
    }

    private func milliseconds(_ duration: Duration) -> Int64 { duration.nanoseconds / 1_000_000 }

    private func seconds(_ duration: Duration) -> Int64 { duration.nanoseconds / 1_000_000_000 }

    private func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    @Test(arguments: ["README.md", "CONTRIBUTING.md"])
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
    }
}
