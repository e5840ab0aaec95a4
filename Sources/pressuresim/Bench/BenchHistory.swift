import Foundation
import ScenarioLanguage

/// Reads and extends the file.
enum BenchHistory {
    /// What is wrong with a file, with its place.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    /// The runs of a file, oldest first as they were added; none if there is no such file.
    ///
    /// - Throws: ``Unreadable`` at the first line that is no run.
    static func read(_ path: String) throws(Unreadable) -> [BenchRun] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        // A run takes a few kilobytes.
        guard let data = try? BoundedInput.read(path, atMost: 64 << 20), let text = String(data: data, encoding: .utf8)
        else {
            throw Unreadable(description: "\(path): not a readable text file. Name another file, or one to be made.")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var runs: [BenchRun] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) { continue }
            guard let run = try? decoder.decode(BenchRun.self, from: Data(line.utf8)), run.isPlausible else {
                throw Unreadable(
                    description: "\(path):\(index + 1): found no run of the bench; allowed here: a line that "
                        + "--append wrote. Remove the line or name another file."
                )
            }
            runs.append(run)
        }
        return runs
    }

    /// A run as a line, with its end.
    static func line(_ run: BenchRun) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(run) + Data("\n".utf8)
    }

    /// Adds a run to a file, which is made if need be. A last line without an end gets one first.
    static func append(_ run: BenchRun, to path: String) throws {
        let line = try line(run)
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let end = try file.seekToEnd()
        var needsEnd = false
        if end > 0 {
            try file.seek(toOffset: end - 1)
            needsEnd = try file.readToEnd() != Data("\n".utf8)
        }
        try file.write(contentsOf: (needsEnd ? Data("\n".utf8) : Data()) + line)
    }
}
