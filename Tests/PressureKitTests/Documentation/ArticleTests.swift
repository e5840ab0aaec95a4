#if !THREAD_SANITIZER  // One thread at a time.
import Foundation
import Testing

@testable import PressureKit

/// The articles of the documentation say nothing that is not so: their code is compiled, their numbers are the code's, and
/// what they quote is really said.
@Suite struct ArticleTests {
    private static let root = ReadmeTests.root
    private static let catalog = root.appending(path: "Sources/PressureKit/PressureKit.docc")

    /// Every article with its text.
    static let articles: [(name: String, text: String)] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: catalog.path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().compactMap { name in
            guard let text = try? String(contentsOf: catalog.appending(path: name), encoding: .utf8) else { return nil }
            return (String(name.dropLast(3)), text)
        }
    }()

    private func text(_ name: String) throws -> String {
        try #require(Self.articles.first { $0.name == name }, "no article \(name)").text
    }

    /// All Swift files below a directory, as one text each.
    private static func sources(in directory: String) throws -> [String] {
        let place = root.appending(path: directory)
        let paths = try #require(FileManager.default.enumerator(atPath: place.path)).compactMap { $0 as? String }
        return try paths.filter { $0.hasSuffix(".swift") }.map {
            try String(contentsOf: place.appending(path: $0), encoding: .utf8)
        }
    }

    /// `scripts/getting-started.sh` builds and runs what GettingStarted.md has.
    @Test(arguments: articles.map(\.name).filter { $0 != "GettingStarted" })
    func everySampleIsCodeThatIsCompiled(article: String) throws {
        // The tests of Notebook are run by scripts/example.sh.
        let snippets =
            try Self.sources(in: "Tests/PressureKitTests/Documentation/Snippets")
            + Self.sources(in: "Examples/Notebook/Tests").map { "\n" + $0 }
        for block in try text(article).matches(of: /(?ms)^```swift\n(.*?)^```$/) {
            let lines = String(block.1).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let isThere = [0, 4, 8].contains { depth in
                let indent = String(repeating: " ", count: depth)
                let code = lines.map { $0.isEmpty ? "" : indent + $0 }.joined(separator: "\n")
                return snippets.contains { $0.contains("\n" + code + "\n") }
            }
            #expect(isThere, "no file of Snippets/ has, line for line:\n\(block.1)")
        }
    }

    @Test func everyArticleIsLinkedAndEveryLinkLeadsToOne() throws {
        let names = Set(Self.articles.map(\.name))
        #expect(names.count >= 14)
        let front = try text("PressureKit")
        for name in names where name != "PressureKit" { #expect(front.contains("<doc:\(name)>"), "\(name)") }
        for article in Self.articles {
            for link in article.text.matches(of: /<doc:([A-Za-z]+)>/) {
                #expect(names.contains(String(link.1)), "\(link.0) in \(article.name)")
            }
        }
    }

    @Test func theThresholdsAreTheDefaultsInPartsAndInBytes() throws {
        let article = try text("ChoosingThresholds")
        let thresholds = PressureThresholds()
        for (name, band) in [("warning", thresholds.warning), ("critical", thresholds.critical)] {
            let atMost = band.atMost.map { "\($0)" } ?? ""
            let atLeast = band.atLeast > .zero ? "\(band.atLeast)" : "–"
            let row = "| \(name) | \(percent(band.enter)) | \(percent(band.leave)) | \(atMost) | \(atLeast) |"
            #expect(article.contains(row), "no row \"\(row)\"")
        }
        let limits: [ByteCount] = [.mebibytes(128), .mebibytes(256), .gibibytes(1), .gibibytes(8), .gibibytes(64)]
        for limit in limits {
            let bytes = thresholds.bytes(of: limit)
            let row = "| \(limit) | \(bytes.warningEnter) | \(bytes.criticalEnter) |"
            #expect(article.contains(row), "no row \"\(row)\"")
        }
        let small = thresholds.bytes(of: .mebibytes(256)).warningEnter.bytes >> 20
        #expect(article.contains("at 500 MB/s, \(small) MiB are gone in 0.1 s"))
    }

    private func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    @Test func thePromisesAreThoseOfTheReadme() throws {
        let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let inLines = readme.replacing(/\n +/, with: " ")
        let promises = inLines.matches(of: /(?m)^- \*\*(P\d+)\*\* (.*)$/).map { "| \($0.1) | \($0.2) |" }
        #expect(promises.count == 16)
        let guarantees = try text("Guarantees")
        for promise in promises { #expect(guarantees.contains(promise + "\n"), "\(promise)") }
    }

    /// At most forty words, and each symbol that is said to carry one is declared.
    @Test func theGlossaryIsShortAndItsSymbolsExist() throws {
        var types: Set<Substring> = []
        var members: Set<Substring> = []
        for source in try Self.sources(in: "Sources") {
            let words = source.split { !($0.isLetter || $0.isNumber) }
            for (word, name) in zip(words, words.dropFirst()) {
                if ["struct", "enum", "class", "protocol", "actor"].contains(word) { types.insert(name) }
                if ["var", "let", "func", "case"].contains(word) { members.insert(name) }
            }
        }
        let rows = try text("Glossary").matches(of: /(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/)
            .filter { $0.1 != "word" }
        #expect((30...40).contains(rows.count), "\(rows.count)")
        #expect(Set(rows.map(\.1)).count == rows.count)
        for row in rows {
            let symbols = row.3.matches(of: /`([A-Za-z.]+)`/).map { $0.1.split(separator: ".") }
            #expect(!symbols.isEmpty, "no symbol for \(row.1)")
            for symbol in symbols {
                let isDeclared = types.contains(symbol[0]) && members.union(types).isSuperset(of: symbol.dropFirst())
                #expect(isDeclared, "\(symbol.joined(separator: ".")) is not declared")
            }
        }
    }

    /// What the doctor is said to say, it does say: each phrase, and each heading, is in a string of the sources.
    @Test func whatTheDoctorIsSaidToSayItSays() throws {
        let article = try text("Troubleshooting")
        let sources = try Self.sources(in: "Sources")
        // A long string goes on in the next line.
        let strings = sources.map { $0.replacing(/\\\n\s*/, with: "") }
        let phrases = article.matches(of: /(?m)^\| `([^`]+)` \|/).map { String($0.1) }
        #expect(phrases.count >= 10)
        let sample = try #require(article.firstMatch(of: /(?ms)^```text\n(.*?)^```$/)).1
        let headings = sample.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
        #expect(headings.count == 5)
        for phrase in phrases + headings {
            let pieces = phrase.split(separator: "MEMORY_PRESSURE_WATCH").map(String.init)
            let isSaid = strings.contains { text in pieces.allSatisfy { text.contains($0) } }
            #expect(isSaid, "nobody says \"\(phrase)\"")
        }
    }
}
#endif
