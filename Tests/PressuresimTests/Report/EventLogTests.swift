import Foundation
import Testing

@testable import pressuresim

@Suite struct EventLogTests {
    @Test(arguments: [
        ("plain", "plain"), ("a/b-*.c_d:e%+1", "a/b-*.c_d:e%+1"), ("two words", "\"two words\""), ("", "\"\""),
        ("say \"no\"", "\"say \\\"no\\\"\""), ("back\\slash", "\"back\\\\slash\""), ("a\nb", "\"a\\nb\""),
        ("µ", "\"µ\""),
    ])
    func valuesAreQuotedWhereTheyNeedIt(value: String, written: String) {
        let event = EventLog.Event(at: .zero, kind: "kind", words: [.init(name: "word", value: value)])
        #expect(event.line == "0.000000000 kind word=\(written)")
    }

    @Test(arguments: [
        (Duration.zero, "0.000000000"), (.nanoseconds(1), "0.000000001"), (.seconds(7261), "7261.000000000"),
    ])
    func timesHaveNanoseconds(time: Duration, written: String) {
        #expect(EventLog.Event(at: time, kind: "k", words: []).line == "\(written) k")
    }

    @Test func laterLivesGoOnWhereTheOneBeforeEnded() {
        let log = EventLog(keeps: true)
        log.note("one", at: .seconds(1), ["there": "1", "absent": nil])
        log.beginLife(after: .seconds(10), steps: 4)
        log.note("two", at: .seconds(1))
        #expect(log.events.map(\.line) == ["1.000000000 one there=1", "11.000000000 two"])
        #expect(log.number(2) == 6)
    }

    @Test func nobodyReadingIsNoWork() {
        let log = EventLog()
        log.note("one", at: .zero)
        #expect(log.events.isEmpty && !log.isActive)
    }

    @Test func aLogThatCannotBeWrittenIsRefusedAtTheStart() {
        #expect(throws: EnvironmentRefusal.self) { try EventLog.open("/no/such/directory/log") }
    }

    /// The kinds that the documentation names are the kinds that are written.
    @Test func everyKindIsDocumented() async throws {
        let readme = try String(
            contentsOf: packageDirectory.appendingPathComponent("Scenarios/README.md"),
            encoding: .utf8
        )
        let log = EventLog(keeps: true)
        let text =
            smallScenario
            .replacingOccurrences(of: "controllers:", with: "spill: {limit: 64KiB}\ncontrollers:")
            .replacingOccurrences(of: "compressibility: 0.5", with: "compressibility: 0")
            .replacingOccurrences(of: "  - warning: critical", with: "  - warning: critical\n  - relaunch\n  - verify")
        _ = try await Simulation(try scenario(text), file: "test.yaml", stage: .virtual(events: log)).run()
        let kinds = Set(log.events.map(\.kind))
        #expect(kinds.isSuperset(of: ["start", "step", "accesses", "reclaim", "stayed", "done", "relaunch", "end"]))
        for kind in kinds { #expect(readme.contains("| `\(kind)` |"), "\(kind)") }
    }
}
