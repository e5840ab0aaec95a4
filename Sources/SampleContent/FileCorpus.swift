import Foundation

/// Real files, mixed by kind and strung together: values are cut from it one after the other.
///
/// The files are taken in turns from each kind (by extension), in the order of their paths, and a big file gives at most
/// ``pieceLimit`` a turn, so that neither the many nor the big ones make up most of it. The same directory gives the same
/// corpus.
package struct FileCorpus: Sendable {
    /// A part of a file.
    struct Piece: Hashable, Sendable {
        var path: String
        var offset: Int
        var count: Int
    }

    /// A file that was found.
    package struct File: Hashable, Sendable {
        package var path: String
        package var byteCount: Int

        package init(path: String, byteCount: Int) {
            self.path = path
            self.byteCount = byteCount
        }
    }

    /// The most one file gives a turn.
    static let pieceLimit = 4 << 20
    /// Files smaller than this are left out: reading them costs more than what they hold.
    static let smallestFile = 4 << 10
    /// Directories are walked until this many files are found.
    static let fileLimit = 50_000

    let pieces: [Piece]
    /// Where each piece begins in the whole.
    private let starts: [Int]
    /// All bytes of the corpus.
    package let byteCount: Int

    /// Mixes files, until `wanted` bytes are together or all files are used up.
    package init(files: [File], wanted: Int) {
        let kinds = Dictionary(grouping: files) { ($0.path as NSString).pathExtension.lowercased() }
        var queues = kinds.sorted { $0.key < $1.key }.map { kind in
            ArraySlice(kind.value.sorted { $0.path < $1.path }.flatMap(Self.cut))
        }
        var pieces: [Piece] = []
        var starts: [Int] = []
        var total = 0
        while total < wanted, queues.contains(where: { !$0.isEmpty }) {
            for index in queues.indices {
                guard let piece = queues[index].popFirst() else { continue }
                pieces.append(piece)
                starts.append(total)
                total += piece.count
            }
        }
        self.pieces = pieces
        self.starts = starts
        byteCount = total
    }

    /// Walks directories and mixes what it finds there.
    ///
    /// - Parameter remedy: how another one is named.
    /// - Throws: ``ContentError`` when there is nothing to read.
    package init(
        directories: [String],
        wanted: Int,
        remedy: String = "content: {files: DIRECTORY}"
    ) throws(ContentError) {
        var files: [File] = []
        for directory in directories { Self.collect(directory, into: &files) }
        self.init(files: files, wanted: wanted)
        guard byteCount > 0 else {
            throw ContentError(
                description: """
                    No readable files of \(Self.smallestFile / 1024) KiB or more in \
                    \(directories.joined(separator: ", ")). Name another directory: \(remedy).
                    """
            )
        }
    }

    /// The parts of files that make up a range of the corpus. A range beyond the end goes on at the beginning.
    func pieces(from start: Int, count: Int) -> [Piece] {
        var result: [Piece] = []
        var position = start % byteCount
        var left = count
        while left > 0 {
            let index = index(of: position)
            let skipped = position - starts[index]
            var piece = pieces[index]
            piece.offset += skipped
            piece.count = min(piece.count - skipped, left)
            result.append(piece)
            left -= piece.count
            position = (position + piece.count) % byteCount
        }
        return result
    }

    /// The piece that holds a position: the last that begins at or before it.
    private func index(of position: Int) -> Int {
        var low = 0
        var high = starts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    private static func cut(_ file: File) -> [Piece] {
        stride(from: 0, to: file.byteCount, by: pieceLimit).map { offset in
            Piece(path: file.path, offset: offset, count: min(pieceLimit, file.byteCount - offset))
        }
    }

    /// Adds the regular, readable files below a directory; symbolic links are not followed.
    private static func collect(_ directory: String, into files: inout [File]) {
        let keys: [URLResourceKey] = [.isRegularFileKey, .fileSizeKey]
        guard
            let walk = FileManager.default.enumerator(
                at: URL(fileURLWithPath: directory).resolvingSymlinksInPath(),
                includingPropertiesForKeys: keys
            )
        else { return }
        for case let url as URL in walk {
            guard files.count < fileLimit else { return }
            guard let values = try? url.resourceValues(forKeys: Set(keys)), values.isRegularFile == true,
                let size = values.fileSize, size >= smallestFile,
                FileManager.default.isReadableFile(atPath: url.path)
            else { continue }
            files.append(File(path: url.path, byteCount: size))
        }
    }
}
