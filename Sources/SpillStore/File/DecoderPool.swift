package import PressureSystem
import Synchronization

/// Decoders for the readers of a manager's files: a reader waiting for its value is never queued behind another reader.
package final class DecoderPool: Sendable {
    /// Decoders kept for reuse: more than a machine's readers use at once is more than it pays to keep.
    private static let kept = 8

    private let spare = Lock<[ChunkDecoder]>([])
    /// Threads that help with large values.
    package let helpers = RestorePool()

    /// A pool without any yet.
    package init() {}

    /// A decoder of one's own, new if all are in use.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` when there is no memory for one.
    package func take() throws(PressureError) -> ChunkDecoder {
        if let decoder = spare.withLock({ $0.popLast() }) { return decoder }
        do {
            return try ChunkDecoder()
        } catch {
            throw .noMemoryToRestore(errno: error.errno)
        }
    }

    /// Gives a decoder back.
    package func giveBack(_ decoder: ChunkDecoder) {
        spare.withLock { if $0.count < Self.kept { $0.append(decoder) } }
    }
}
