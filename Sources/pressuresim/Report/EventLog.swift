import Foundation
import PressureKit

/// What happened while a scenario was played, one line for each event, in the order in which it did.
///
/// In virtual time the same scenario with the same seed gives the same lines, byte for byte. `Scenarios/README.md`
/// documents the kinds and their words.
final class EventLog: Sendable {
    /// One event.
    struct Event: Codable, Hashable, Sendable {
        /// Since the timeline began.
        var at: Duration
        /// What kind it is: the first word.
        var kind: String
        /// Name and value, in order.
        var words: [Word]

        struct Word: Codable, Hashable, Sendable {
            var name: String
            var value: String
        }

        /// The line: seconds with nine decimals, the kind, then `name=value`; a value with anything but letters, digits and
        /// `._/*+:%-` in it is quoted, with a backslash before quotes and backslashes.
        var line: String {
            ([Self.time(at), kind] + words.map { "\($0.name)=\(Self.quoted($0.value))" }).joined(separator: " ")
        }

        private static func time(_ duration: Duration) -> String {
            let nanoseconds = duration.nanoseconds
            let fraction = String(nanoseconds.magnitude % 1_000_000_000)
            let padding = String(repeating: "0", count: 9 - fraction.count)
            return "\(nanoseconds < 0 ? "-" : "")\(nanoseconds.magnitude / 1_000_000_000).\(padding)\(fraction)"
        }

        private static func quoted(_ value: String) -> String {
            let isPlain = value.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._/*+:%-".utf8.contains(byte)
                }
            }
            if isPlain, !value.isEmpty { return value }
            var text = "\""
            for character in value {
                switch character {
                case "\"", "\\": text += "\\\(character)"
                case "\n": text += "\\n"
                default: text.append(character)
                }
            }
            return text + "\""
        }
    }

    private struct State {
        /// Where lines go; `nil` for nowhere.
        var output: FileHandle?
        /// Those that were noted, if they are kept.
        var kept: [Event] = []
        /// Added to every time: that of the lives before.
        var offset = Duration.zero
        /// Added to every step's number.
        var stepOffset = 0
        var isBroken = false
    }

    private let keeps: Bool
    private let state: Lock<State>

    /// - Parameters:
    ///   - output: where lines are written as events happen; `nil` for nowhere.
    ///   - keeps: whether events are kept, for ``events``.
    init(output: FileHandle? = nil, keeps: Bool = false) {
        self.keeps = keeps
        state = Lock(State(output: output))
    }

    /// Opens the file, or standard output for `-`.
    ///
    /// - Throws: ``EnvironmentRefusal`` when it cannot be written.
    static func open(_ path: String) throws(EnvironmentRefusal) -> EventLog {
        if path == "-" { return EventLog(output: .standardOutput) }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw EnvironmentRefusal(message: "\(path) cannot be written. Name another file.") }
        return EventLog(output: file)
    }

    /// What was kept.
    var events: [Event] { state.withLock { $0.kept } }

    /// Whether anybody reads what is noted.
    var isActive: Bool { keeps || state.withLock { $0.output != nil } }

    /// Whether a line could not be written.
    var isBroken: Bool { state.withLock { $0.isBroken } }

    /// What follows is a later life's: its times and the numbers of its steps begin anew.
    func beginLife(after duration: Duration, steps: Int) {
        state.withLock { state in
            state.offset = duration
            state.stepOffset = steps
        }
    }

    /// The number that a step of the present life has in the whole scenario.
    func number(_ number: Int) -> Int { state.withLock { $0.stepOffset } + number }

    /// Notes an event.
    func note(_ kind: String, at time: Duration, _ words: KeyValuePairs<String, String?> = [:]) {
        guard isActive else { return }
        let words = words.compactMap { name, value in value.map { Event.Word(name: name, value: $0) } }
        add(Event(at: time, kind: kind, words: words))
    }

    /// Notes what an earlier life noted.
    func add(_ event: Event) {
        state.withLock { state in
            var event = event
            event.at += state.offset
            if keeps { state.kept.append(event) }
            guard let output = state.output, !state.isBroken else { return }
            do {
                try output.write(contentsOf: Data((event.line + "\n").utf8))
            } catch {
                // Told at the end: a full disk is no reason to stop in the middle.
                state.isBroken = true
            }
        }
    }
}
