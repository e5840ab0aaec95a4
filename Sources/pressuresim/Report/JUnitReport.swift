import Foundation
import ScenarioLanguage

/// Runs in the XML that CI systems read: a suite for each scenario, a case for each expectation and one for the bytes.
struct JUnitReport {
    /// A scenario's part.
    enum Suite {
        case played(RunFacts)
        /// One that was not played to its end, and the exit status that says why.
        case refused(file: String, status: Int32)
    }

    var suites: [Suite]

    var text: String {
        let suites = suites.map { suite in
            switch suite {
            case .played(let run): self.suite(run)
            case .refused(let file, let status): self.suite(refused: file, status)
            }
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\(suites.joined())</testsuites>\n"
    }

    private func suite(_ run: RunFacts) -> String {
        var cases = [self.case("no value is lost", run, failure: loss(run))]
        if run.neighbours != nil { cases.append(self.case("every process plays to its end", run, failure: death(run))) }
        cases += run.expectations.map { expectation in
            if let reason = expectation.notMeasured { return self.case(expectation.expectation, run, skipped: reason) }
            let found = expectation.value.map { "\($0)" } ?? "never measured"
            return self.case(expectation.expectation, run, failure: expectation.holds ? nil : "it was \(found)")
        }
        let failures =
            run.expectations.count { !$0.holds && $0.notMeasured == nil }
            + [loss(run), death(run)].compactMap(\.self).count
        let skipped = run.expectations.count { $0.notMeasured != nil }
        let seconds = run[.duration].map { " time=\"\($0)\"" } ?? ""
        return """
              <testsuite name="\(Self.escaped(run.scenario.name))" file="\(Self.escaped(run.scenario.file))" \
            tests="\(cases.count)" failures="\(failures)" skipped="\(skipped)"\(seconds)>
            \(cases.joined())  </testsuite>

            """
    }

    private func suite(refused file: String, _ status: Int32) -> String {
        let name = Self.escaped(file)
        let reason =
            switch ExitStatus(rawValue: status) {
            case .wrongInput: "the input is wrong"
            case .environmentRefused: "the environment refused"
            case .interrupted: "interrupted"
            default: "it ended with status \(status)"
            }
        return """
              <testsuite name="\(name)" file="\(name)" tests="1" failures="0" errors="1" skipped="0">
                <testcase classname="\(name)" name="it can be played"><error message="\(reason)"/></testcase>
              </testsuite>

            """
    }

    private func loss(_ run: RunFacts) -> String? {
        guard let first = run.losses.first else { return nil }
        return "\(run.losses.count) lost; \(first.path): \(first.reason)"
    }

    private func death(_ run: RunFacts) -> String? {
        guard !run.interrupted else { return nil }
        return run.neighbours?.first { $0.end != "finished" }.map { "process \($0.process): \($0.end)" }
    }

    private func `case`(_ name: String, _ run: RunFacts, failure: String? = nil, skipped: String? = nil) -> String {
        let head = "    <testcase classname=\"\(Self.escaped(run.scenario.name))\" name=\"\(Self.escaped(name))\""
        if let failure { return "\(head)><failure message=\"\(Self.escaped(failure))\"/></testcase>\n" }
        if let skipped { return "\(head)><skipped message=\"\(Self.escaped(skipped))\"/></testcase>\n" }
        return "\(head)/>\n"
    }

    private static func escaped(_ text: String) -> String {
        text.visible.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
}
