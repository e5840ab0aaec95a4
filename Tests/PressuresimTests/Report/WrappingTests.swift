import Foundation
import PressureKit
import ScenarioLanguage
import Testing

@testable import ReportPages
@testable import pressuresim

/// On a terminal of 80 columns, and of 40, nothing breaks inside a word.
@Suite struct WrappingTests {
    @Test(arguments: [
        ("one two three", 7, "one two\n  three"), ("  one two", 6, "  one\n  two"), ("unbreakable", 4, "unbreakable"),
        ("a  b", 4, "a  b"), ("a  b  c", 4, "a  b\n c"), ("", 4, ""), ("a\n\nb", 4, "a\n\nb"),
        ("\u{1B}[1mone\u{1B}[0m two", 7, "\u{1B}[1mone\u{1B}[0m two"),
    ])
    func linesBreakBetweenWords(text: String, columns: Int, wrapped: String) {
        #expect(Wrapping.wrapped(text, to: columns) == wrapped)
        #expect(Wrapping.wrapped(text, to: nil) == text)
    }

    @Test func tableOfProseBreaksInItsLastColumn() {
        var table = TextTable([.left, .left])
        table.add(["lru", "the least recently used first of all"])
        table.add(["ours", "short"])
        #expect(
            table.lines(fitting: 28) == ["lru   the least recently\n      used first of all", "ours  short"]
        )
        #expect(table.lines(fitting: 100) == table.lines)
    }

    @Test func tableOfFiguresNamesEachWhereThereIsNoRoom() {
        var table = TextTable([.left, .right, .right, .right])
        table.add(["", "count", "p50", "p99"])
        table.add(["read, in memory", "1,477", "1.23 µs", "7.09 µs"])
        table.add(["evict one value", "3", "", "9 s"])
        #expect(
            table.lines(fitting: 24, hasHeader: true) == [
                "", "read, in memory\n  count 1,477\n  p50 1.23 µs\n  p99 7.09 µs",
                "evict one value\n  count 3  p99 9 s",
            ]
        )
        #expect(table.lines(fitting: 80, hasHeader: true) == table.lines)
    }

    /// The words of a text, in their order, whatever lines they stand in.
    private static func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }

    @Test(arguments: [40, 80]) func anAccountFits(columns: Int) throws {
        let record = try RunSamples.usual()
        let report = RunSamples.report(record)
        func text(_ columns: Int?) -> String {
            let style = Style(isColoured: false, columns: columns)
            let account = Account(record: record, figures: report.figures, outcomes: report.outcomes, style: style)
            return Wrapping.wrapped(account.text, to: columns)
        }
        let fitted = text(columns)
        for line in fitted.split(separator: "\n") { #expect(line.count <= columns, "\(line)") }
        // Of figures' columns the names are repeated.
        let known = Set(Self.words(text(nil)))
        for word in Self.words(fitted) { #expect(known.contains(word), "\(word) was broken") }
        #expect(fitted.contains("why: "))
    }

    @Test(arguments: [40, 80]) func helpAndReportsFit(columns: Int) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("s.yaml")
            try Data(smallScenario.utf8).write(to: file)
            for arguments in [
                ["--help"], ["compare", "--help"], ["run", file.path, "--virtual"], ["compare", file.path],
                ["bench", "--tiny"], ["doctor"], ["rnu"],
            ] {
                let wide = try Tool.run(arguments, environment: ["COLUMNS": "1000"])
                let narrow = try Tool.run(arguments, environment: ["COLUMNS": "\(columns)"])
                #expect(narrow.status == wide.status)
                let known = Set(Self.words(wide.output + " " + wide.errors))
                for line in (narrow.output + narrow.errors).split(separator: "\n") where line.count > columns {
                    #expect(Self.words(String(line)).count == 1, "\(arguments): \(line)")
                }
                // Figures are measured anew, so only words of letters can be held against each other.
                for word in Self.words(narrow.output) where word.allSatisfy(\.isLetter) {
                    #expect(known.contains(word), "\(arguments): \(word) was broken")
                }
            }
        }
    }

    @Test(arguments: [["compare", "FILE"], ["bench", "--tiny"]])
    func aPipeIsToldHowFarItIsIfItAsks(arguments: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("small.yaml")
            try Data(smallScenario.utf8).write(to: file)
            let arguments = arguments.map { $0 == "FILE" ? file.path : $0 }
            let quiet = try Tool.run(arguments)
            #expect(quiet.errors.isEmpty, "\(quiet.errors)")
            let told = try Tool.run(arguments + ["--progress"])
            #expect(told.status == 0)
            #expect(told.errors.hasPrefix("0 s: "), "\(told.errors)")
            #expect(!told.errors.contains("\u{1B}"))
            #expect(told.output.isEmpty == quiet.output.isEmpty)
        }
    }
}
