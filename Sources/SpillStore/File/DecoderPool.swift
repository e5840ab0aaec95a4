package import PressureSystem
import Synchronization

/// Decoders for the readers of a manager's files: a reader waiting for its value is never queued behind another reader.
///
/// Each takes as much memory as the values that its readers bring back: of 64 readers at once with values of 4 KiB those
/// that were touched when they were made took 19 MiB.
package final class DecoderPool: Sendable {
    /// Decoders kept for reuse, however much memory they have come to take…
    private static let kept = 8
    /// …and those that take little: as many as a machine has readers who wait for small values.
    private static let keptSmall = 64
    /// The longest payload of those.
    private static let small = 16 << 10

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
            return try ChunkDecoder(isTouched: false)
        } catch {
            throw .noMemoryToRestore(errno: error.errno)
        }
    }

    /// Gives a decoder back.
    package func giveBack(_ decoder: ChunkDecoder) {
        let most = decoder.longest <= Self.small ? Self.keptSmall : Self.kept
        spare.withLock { if $0.count < most { $0.append(decoder) } }
    }
}
