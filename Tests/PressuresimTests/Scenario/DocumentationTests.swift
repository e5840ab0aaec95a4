import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// The page that documents the language says what the code does.
@Suite struct DocumentationTests {
    private let page: String

    init() throws {
        page = try String(contentsOf: packageDirectory.appendingPathComponent("Scenarios/README.md"), encoding: .utf8)
    }

    @Test func theTableOfFiguresIsTheListOfFigures() throws {
        let start = try #require(page.range(of: "## Figures")).upperBound
        let end = try #require(page.range(of: "## The JSON report")).lowerBound
        let rows = page[start..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }
        let documented = rows.map { row in
            row.split(separator: "|").prefix(2).map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
        #expect(documented == Figure.allCases.map { [$0.rawValue, $0.unit.rawValue] })
    }

    @Test func theExampleIsAScenario() throws {
        let blocks = page.components(separatedBy: "```").filter { $0.hasPrefix("yaml\n") }
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(throws: Never.self) { try scenario(String(block.dropFirst(5))) }
        }
    }

    /// Every word of the language, as the messages list them, is on the page.
    @Test func everyKeyIsDocumented() {
        let wrong = """
            zzz: 1
            spill: {zzz: 1}
            memory: {taken_since_start: {zzz: 1, warning: {zzz: 1}}}
            controllers:
              - {zzz: 1, name: a, caches: [{zzz: 1, name: b, loader: {zzz: 1}}]}
            timeline:
              - {access: {zzz: 1}}
              - {fill: {zzz: 1}}
              - {await: {zzz: 1}}
              - {warning: {zzz: 1}}
              - zzz
            """
        let lists = complaints(wrong).filter { $0.contains("zzz") }
        #expect(lists.count == 12)
        for line in lists {
            let allowed = line.components(separatedBy: "allowed here: ")[1]
            for word in allowed.components(separatedBy: ", ") {
                let key = word.replacingOccurrences(of: ": …", with: "")
                #expect(page.contains("`\(key)`") || page.contains("\(key):") || page.contains("\(key)}"), "\(key)")
            }
        }
    }
}
