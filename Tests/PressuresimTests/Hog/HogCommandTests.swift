import Testing

@testable import pressuresim

/// `pressuresim hog` as a process: exit status, what it prints where.
@Suite(.timeLimit(.minutes(2))) struct HogCommandTests {
    @Test func takesHoldsAndGivesBack() throws {
        let outcome = try Tool.run(["hog", "--ceiling", "16MiB", "--rate", "1GB/s", "--hold", "1ms"])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.hasPrefix("took 16.0 MiB in "))
        #expect(outcome.errors.isEmpty)
    }

    @Test func theFactsAsJSON() throws {
        let outcome = try Tool.run(["hog", "--ceiling", "8MiB", "--hold", "0s", "--compressible", "--json", "-"])
        #expect(outcome.status == 0, "\(outcome)")
        let json = try Tool.json(outcome)
        #expect(json["taken_bytes"] as? Int == 8 << 20)
        #expect(json["reached_ceiling"] as? Bool == true)
        #expect(json["content"] as? String == "compressible")
    }

    @Test func wrongInputIsTwo() throws {
        #expect(try Tool.run(["hog"]).status == 2)
        let outcome = try Tool.run(["hog", "--ceiling", "300MB"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("Did you mean 300MiB?"), "\(outcome.errors)")
    }

    @Test func moreThanTheMachineHasIsRefused() throws {
        let outcome = try Tool.run(["hog", "--ceiling", "1024GiB"])
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("would endanger the host"))
    }
}
