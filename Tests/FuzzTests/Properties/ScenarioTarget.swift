@testable import ScenarioLanguage

extension FuzzTarget {
    /// Scenario files: accepted within all limits, or refused with messages that name a place in the file.
    static let scenario = FuzzTarget(name: "scenario") { bytes throws(FuzzFailure) in
        guard bytes.count <= ScenarioFile.mostBytes, let text = String(validating: bytes, as: UTF8.self) else { return }
        let result = read(text)
        try check(result, of: text)
        // A comment before it changes nothing but the lines. A byte-order mark is only one at the very beginning.
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { return }
        try compare(result, read("#\n" + text))
    }

    private static func read(_ text: String) -> Result<Scenario, ScenarioError> {
        Result { () throws(ScenarioError) in try ScenarioFile.parse(text, file: "fuzz.yaml") }
    }

    private static func check(_ result: Result<Scenario, ScenarioError>, of text: String) throws(FuzzFailure) {
        switch result {
        case .success(let scenario):
            let size = ScenarioSize(scenario.controllers)
            try hold(size.excess == nil, "it is larger than allowed: \(size)")
            try hold(1...10_000 ~= scenario.timeline.count, "\(scenario.timeline.count) steps")
            try hold(1...1000 ~= scenario.controllers.count, "\(scenario.controllers.count) controllers")
            try hold(!scenario.name.isEmpty && scenario.name.count <= 200, "its name is \"\(scenario.name)\"")
            try hold(scenario.valueCount > 0 && scenario.largestByteCount >= 0, "it holds nothing")
        case .failure(let error):
            // A carriage return, and what else YAML breaks lines at, are ends of lines too.
            let lines = text.unicodeScalars.count { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 1
            try hold(!error.diagnostics.isEmpty, "it is refused without a reason")
            for diagnostic in error.diagnostics {
                let position = diagnostic.position
                try hold(1...lines + 1 ~= position.line && position.column >= 1, "of \(lines) lines: \(diagnostic)")
                try hold(!diagnostic.found.isEmpty && !diagnostic.allowed.isEmpty, "\(diagnostic)")
            }
        }
    }

    private static func compare(
        _ plain: Result<Scenario, ScenarioError>,
        _ moved: Result<Scenario, ScenarioError>
    ) throws(FuzzFailure) {
        switch (plain, moved) {
        case (.success(let one), .success(let other)):
            try hold(one.valueCount == other.valueCount, "\(one.valueCount) values, then \(other.valueCount)")
            try hold(one.timeline.count == other.timeline.count, "another number of steps")
            try hold(one.expectations.count == other.expectations.count, "another number of expectations")
        case (.failure(let one), .failure(let other)):
            let (one, other) = (one.diagnostics, other.diagnostics)
            try hold(one.count == other.count, "\(one.count) complaints, then \(other.count)")
            for (one, other) in zip(one, other) {
                // What is about the whole file is told of its first line.
                let isMoved = other.position.line - one.position.line
                try hold(isMoved == 1 || (isMoved == 0 && one.position == .start), "\(one), then \(other)")
                try hold(one.found == other.found && one.allowed == other.allowed, "\(one), then \(other)")
            }
        case (.success, .failure(let error)): try hold(false, "accepted; with a comment before it: \(error)")
        case (.failure(let error), .success):
            try hold(false, "accepted with a comment before it, not without: \(error)")
        }
    }
}
