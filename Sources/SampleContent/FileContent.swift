import Glibc

/// Values cut from a corpus of files, read again from the files whenever they are needed.
package struct FileContent: ContentSource {
    let corpus: FileCorpus
    /// Where each value begins in the corpus.
    let starts: [Int]

    /// - Parameter sizes: the size of each value.
    package init(corpus: FileCorpus, sizes: [Int]) {
        self.corpus = corpus
        var next = 0
        starts = sizes.map { size in
            defer { next += size }
            return next
        }
    }

    package func fill(_ bytes: inout MutableRawSpan, index: Int) throws {
        var offset = 0
        for piece in corpus.pieces(from: starts[index], count: bytes.byteCount) {
            try Self.read(piece, into: &bytes, at: offset)
            offset += piece.count
        }
    }

    private static func read(_ piece: FileCorpus.Piece, into bytes: inout MutableRawSpan, at start: Int) throws {
        let file = unsafe open(piece.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ContentError.unreadable(piece.path, errno) }
        defer { close(file) }
        try unsafe bytes.withUnsafeMutableBytes { all in
            var done = 0
            while done < piece.count {
                // Within the value: the pieces of a value add up to its size.
                let rest = unsafe all.baseAddress! + start + done
                let count = unsafe pread(file, rest, piece.count - done, off_t(piece.offset + done))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw ContentError.unreadable(piece.path, errno) }
                guard count > 0 else { throw ContentError.changed(piece.path) }
                done += count
            }
        }
    }
}

extension ContentError {
    fileprivate static func unreadable(_ path: String, _ error: CInt) -> ContentError {
        let reason = unsafe String(cString: strerror(error))
        return ContentError(description: "\(path) cannot be read: \(reason). Use files that stay during the run.")
    }

    fileprivate static func changed(_ path: String) -> ContentError {
        ContentError(description: "\(path) became shorter during the run. Use files that nobody writes to.")
    }
}
