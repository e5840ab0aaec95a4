import ArgumentParser
import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// `run A B C`: each scenario is played by a process of its own, one after the other, so that none finds the memory that
/// another has left.
struct SeveralRuns: Sendable {
    var files: [String]
    /// What all of them are played with.
    var options: [String]
    var junit: String?

    /// - Throws: the status of the worst; 2 before the first when the XML would be written over what one of them reads.
    func play() async throws {
        try CommandOutput.check(junit, reading: files.flatMap(inputs))
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? TemporaryDirectory.usualPlace
        let place = try TemporaryDirectory(in: base, option: "TMPDIR")
        defer { place.remove() }
        var statuses: [Int32] = []
        var suites: [JUnitReport.Suite] = []
        for (number, file) in files.enumerated() {
            if number > 0 { try CommandOutput.print("") }
            let json = "\(place.path)/\(number).json"
            let status = try await play(file, json: json)
            statuses.append(status)
            suites.append((try? RunFacts.read(json)).map { .played($0) } ?? .refused(file: file, status: status))
            if status == ExitStatus.interrupted.rawValue { break }
        }
        let right = statuses.count { $0 == 0 }
        try CommandOutput.print("\n\(right) of \(Quantities.count(files.count, "scenario")) as expected")
        if let junit { try CommandOutput.write(Data(JUnitReport(suites: suites).text.utf8), to: junit) }
        if let worst = statuses.max(), worst != 0 { throw ExitCode(worst) }
    }

    /// What a scenario is read from. Of one that is wrong the file alone: it is told when its turn comes.
    private func inputs(_ file: String) -> [String] {
        let scenario = try? ScenarioFile.read(path: file)
        return [file] + (scenario.map { TraceKeys.paths(of: $0, file: file) } ?? [])
    }

    private func play(_ file: String, json: String) async throws -> Int32 {
        let arguments = ["run", file, "--json", json] + options
        let relay = relay
        return try await Blocking.run("run") {
            let process = Process.ofTool(arguments)
            try process.run()
            relay.pass(to: process.processIdentifier)
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        }
    }

    /// One for all of them: what takes over a signal does so for good.
    private let relay = SignalRelay()

    init(files: [String], options: [String], junit: String?) {
        (self.files, self.options, self.junit) = (files, options, junit)
    }
}
