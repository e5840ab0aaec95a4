import ArgumentParser
import Foundation
import PressureKit
import ReportPages

/// `run A B C`: each scenario is played by a process of its own, one after the other, so that none finds the memory that
/// another has left.
struct SeveralRuns: Sendable {
    var files: [String]
    /// What all of them are played with.
    var options: [String]
    var junit: String?

    /// - Throws: the status of the worst.
    func play() async throws {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? TemporaryDirectory.usualPlace
        let place = try TemporaryDirectory(in: base, option: "TMPDIR")
        defer { place.remove() }
        var statuses: [Int32] = []
        var facts: [RunFacts] = []
        for (number, file) in files.enumerated() {
            if number > 0 { try CommandOutput.print("") }
            let json = "\(place.path)/\(number).json"
            statuses.append(try await play(file, json: json))
            if let run = try? RunFacts.read(json) { facts.append(run) }
            if statuses.last == ExitStatus.interrupted.rawValue { break }
        }
        let right = statuses.count { $0 == 0 }
        try CommandOutput.print("\n\(right) of \(Quantities.count(files.count, "scenario")) as expected")
        if let junit { try CommandOutput.write(Data(JUnitReport(runs: facts).text.utf8), to: junit) }
        if let worst = statuses.max(), worst != 0 { throw ExitCode(worst) }
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
