import SampleContent

/// `index.json` of a generated corpus: the entries with their class and size; the bytes are in `NAME.bin`.
struct CorpusIndex: Decodable {
    struct Entry: Decodable {
        var name: String
        var `class`: String
        var size: Int
    }

    var entries: [Entry]

    /// The entries' files, classes by turns, so that a part of the corpus has the mix of all of it.
    static func corpus(_ entries: [Entry], directory: String, wanted: Int) -> FileCorpus {
        var queues = Dictionary(grouping: entries, by: \.class).sorted { $0.key < $1.key }
            .map { ArraySlice($0.value.sorted { $0.name < $1.name }) }
        var taken = queues.map { _ in 0 }
        var files: [FileCorpus.File] = []
        var total = 0
        while total < wanted {
            // The class with the fewest bytes so far is next: entries differ in size.
            let left = queues.indices.filter { !queues[$0].isEmpty }
            guard let next = left.min(by: { taken[$0] < taken[$1] }), let entry = queues[next].popFirst() else { break }
            taken[next] += entry.size
            total += entry.size
            files.append(FileCorpus.File(path: "\(directory)/\(entry.name).bin", byteCount: entry.size))
        }
        return FileCorpus(files: files, wanted: wanted)
    }
}
