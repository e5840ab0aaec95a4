import Testing

@testable import pressuresim

/// A run of the seed tests, as they write it down when a promise is broken.
@Suite(.timeLimit(.minutes(5))) struct SeedRunTests {
    @Test func itIsPlayedToItsEnd() throws {
        let outcome = try Tool.run(["run", "Tests/PressuresimTests/Fixtures/seed.yaml", "--json", "-"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let json = try Tool.json(outcome)
        #expect(json["passed"] as? Bool == true)
        let titles = try #require(json["steps"] as? [[String: Any]]).compactMap { $0["title"] as? String }
        #expect(titles.contains("relaunch") && titles.last == "verify")
    }
}
