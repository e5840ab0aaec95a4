import PressureKit
import Synchronization

/// Notes by title, and which of them is open.
///
/// The notes are in a cache without a loader: in memory, or in a checked copy, and never dropped. The index of words can
/// be made again, so the first warning takes it.
final class Notebook: PressureControllerDelegate {
    /// What is small, and saved with the state.
    private struct Contents {
        var titles: [String] = []
        var open: String?
        /// The titles of the notes with a word; made by the first search.
        var index: [String: Set<String>]?
    }

    let controller = PressureController("notebook")
    let notes: KeyedCache<String, String>
    private let contents = Mutex(Contents())

    init(in manager: PressureManager) throws {
        try manager.root.addChild(controller)
        notes = try controller.keyedCache("notes", key: String.self, value: String.self)
        controller.delegate = self
    }

    /// All titles, in the order in which the notes were begun.
    var titles: [String] { contents.withLock { $0.titles } }

    /// The title of the note that is open.
    var openTitle: String? { contents.withLock { $0.open } }

    /// Whether there is an index of words.
    var isIndexed: Bool { contents.withLock { $0.index != nil } }

    /// Begins a note and opens it.
    func begin(_ title: String) {
        let isNew = contents.withLock { contents in
            contents.open = title
            guard !contents.titles.contains(title) else { return false }
            contents.titles.append(title)
            return true
        }
        if isNew { notes.set("", for: title) }
    }

    /// Opens a note. Returns whether it exists.
    func open(_ title: String) -> Bool {
        contents.withLock { contents in
            guard contents.titles.contains(title) else { return false }
            contents.open = title
            return true
        }
    }

    /// Adds a line to the note that is open. Returns whether one is.
    func write(_ line: String) throws -> Bool {
        guard let title = openTitle else { return false }
        try notes.update(for: title) { $0 += line + "\n" }
        contents.withLock { $0.index = nil }
        return true
    }

    /// The titles of the notes that have a word.
    func find(_ word: String) throws -> [String] {
        if let index = contents.withLock({ $0.index }) { return index[word, default: []].sorted() }
        var index: [String: Set<String>] = [:]
        for title in titles {
            let words = try notes.withValue(for: title) { $0.split { $0.isWhitespace }.map(String.init) }
            for word in words { index[word, default: []].insert(title) }
        }
        contents.withLock { $0.index = index }
        return index[word, default: []].sorted()
    }

    // MARK: PressureControllerDelegate

    func didReceiveMemoryWarning(_ warning: MemoryWarning) { contents.withLock { $0.index = nil } }

    func encodeRestorableState(into coder: inout StateCoder) {
        let contents = contents.withLock { $0 }
        coder.encode(contents.titles.joined(separator: "\n"), forKey: "titles")
        coder.encode(contents.open, forKey: "open")
    }

    func decodeRestorableState(from coder: StateCoder) {
        let titles = coder.decode(String.self, forKey: "titles") ?? ""
        let open = coder.decode(String.self, forKey: "open")
        contents.withLock { $0 = Contents(titles: titles.split(separator: "\n").map(String.init), open: open) }
    }
}
