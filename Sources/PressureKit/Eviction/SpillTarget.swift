import PressureSystem
import SpillStore

/// A place that values are spilled to, a disk or a server, and how writing there fares.
final class SpillTarget: Sendable {
    let file: SegmentFile
    let copier: ChunkCopier
    let clock: any MonotonicClock
    private let backoff = Lock(SpillBackoff())

    init(_ file: SegmentFile, choice: CompressionChoice?, compressesLater: Bool, clock: any MonotonicClock) {
        self.file = file
        self.clock = clock
        copier = ChunkCopier(file: file, choice: choice, compressesLater: compressesLater)
    }

    /// What the server is called; `nil` for a disk.
    var server: String? { file.fileSystem.server }

    /// Whether writing may be tried now.
    var mayWrite: Bool {
        let now = clock.now()
        return backoff.withLock { $0.allowsWriting(at: now) }
    }

    /// Something was written, or could not be.
    func note(_ failure: SpillFailure?) {
        guard let failure else {
            // Where write-back has just failed, a write that succeeds proves nothing.
            if !file.isDoubtful { backoff.withLock { $0.noteSuccess() } }
            return
        }
        // A value that cannot be encoded says nothing about the disk.
        if !failure.concernsValueOnly { note(isDiskFull: failure.isDiskFull) }
    }

    /// Whether write-back has failed since the last look: writing is suspended then, at once, since writes that succeed say
    /// nothing against it. Allocates nothing.
    func takeLateFailure() -> SpillFailure? {
        guard let failure = file.takeLateFailure() else { return nil }
        note(isDiskFull: true)
        return failure
    }

    private func note(isDiskFull: Bool) {
        let now = clock.now()
        backoff.withLock { $0.noteFailure(isDiskFull: isDiskFull, at: now) }
    }
}
