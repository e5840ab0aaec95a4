import Foundation
import Glibc
import PressureKit
import ScenarioLanguage

/// The processes that `hog` steps start: this tool's own `hog` command, so that somebody else's memory is taken.
final class HogProcesses: Hogs {
    private struct State {
        var running: [(process: Process, ticket: StopSignal.Ticket)] = []
        /// What each of them held when it was looked at.
        var held: [Int32: Int] = [:]
        var peak = 0
    }

    private let state = Lock(State())
    private let stop: StopSignal

    init(stop: StopSignal = StopSignal()) { self.stop = stop }

    /// The most that all of them held at once, as `/proc` told.
    var peak: ByteCount { .bytes(state.withLock(\.peak)) }

    /// Starts one and waits until it holds its size, or four times as long as that should take. Blocking.
    ///
    /// - Throws: ``EnvironmentRefusal`` with the hog's own words when it refuses, or cannot be started.
    func start(_ spec: HogSpec, isForced: Bool) throws(EnvironmentRefusal) -> HogOutcome {
        var arguments = [
            "hog", "--ceiling", "\(spec.size.bytes)B", "--rate", "\(spec.rate / 1e6)MB/s", "--hold",
            "\(spec.hold.seconds)s",
        ]
        if isForced { arguments.append("--force") }
        let process = Process.ofTool(arguments)
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        do {
            try process.run()
        } catch {
            throw EnvironmentRefusal(message: "A hog could not be started: \(error.reason).")
        }
        let number = process.processIdentifier
        let ticket = stop.entrust(.child(number))
        state.withLock { $0.running.append((process, ticket)) }
        let deadline = SystemClock().now() + .seconds(4 * Double(spec.size.bytes) / spec.rate + 10)
        while process.isRunning {
            let held = note(number)
            if held >= spec.size.bytes { return .holds(.bytes(held), process: number) }
            if SystemClock().now() > deadline { return .slow(.bytes(held), process: number) }
            Pause.sleep(.milliseconds(10))
        }
        if stop.isSet { return .slow(.zero, process: number) }
        if process.terminationReason == .uncaughtSignal { return .killed(process: number) }
        // One that has held its memory for no time at all is done.
        if process.terminationStatus == 0 { return .holds(spec.size, process: number) }
        let said = (try? errors.fileHandleForReading.readToEnd()) ?? nil
        throw EnvironmentRefusal(message: "A hog of \(spec.size) was refused: \(Self.text(said))")
    }

    /// Ends all of them. Blocks until their memory is back.
    func end() {
        let running = state.withLock { state in
            defer { (state.running, state.held) = ([], [:]) }
            return state.running
        }
        for (process, _) in running where process.isRunning { process.terminate() }
        for (process, ticket) in running {
            process.waitUntilExit()
            stop.release(ticket)
        }
    }

    /// Remembers what one holds now: the memory that is its own, not that of the program and its libraries.
    private func note(_ process: Int32) -> Int {
        let held = ProcessMemory.field("RssAnon", of: "/proc/\(process)/status")?.bytes ?? 0
        state.withLock { state in
            state.held[process] = held
            state.peak = max(state.peak, state.held.values.reduce(0, +))
        }
        return held
    }

    private static func text(_ data: Data?) -> String {
        String(decoding: data ?? Data(), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
