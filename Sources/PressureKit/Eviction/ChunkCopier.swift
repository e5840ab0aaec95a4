import PressureSystem
import SpillStore
import Synchronization

/// Copies chunks of values to a segment file, and decides for each how to encode it.
///
/// In a reclaim the sooner a byte is in the file the better, and back from it: where the disk, as measured, is faster than the
/// codec, the bytes are written as they are and compressed in idle time, once nobody has read them for a while. In idle
/// times they are compressed at once.
struct ChunkCopier: Sendable {
    /// What came of some chunks.
    struct Result {
        /// Why one could not be copied; the rest was not tried.
        var failure: SpillFailure?
        /// Whether one was stored although it may be worth compressing.
        var isProvisional = false
        /// Whether it failed without having been tried, because another one had just failed.
        var isUntried = false
    }

    final class Rates: Sendable { let lock = Lock(CodecRates()) }

    let file: SegmentFile
    /// What to do with every chunk; `nil` to decide by what was measured.
    let choice: CompressionChoice?
    /// Whether a reclaim may leave compressing for later.
    let compressesLater: Bool
    private let rates = Rates()
    /// Of what is written to the device and waited for, which is another disk as far as speed is concerned.
    private let deviceRates = Rates()

    init(file: SegmentFile, choice: CompressionChoice?, compressesLater: Bool) {
        self.file = file
        self.choice = choice
        self.compressesLater = compressesLater
    }

    /// Encodes and writes some chunks of a value that is being copied; those of one that cannot be made again are on the
    /// device afterwards, and were compared with what is there. Blocks; allocates nothing.
    func copy(
        _ chunks: Range<Int>,
        of entry: CacheEntry,
        _ slot: UnsafeMutableRawPointer,
        with encoder: ChunkEncoder,
        for purpose: CodecChoice.Purpose
    ) -> Result {
        if entry.encodesWhenSpilled { return unsafe encode(entry, slot, with: encoder, for: purpose) }
        let byteCount = unsafe entry.plainByteCount(slot)
        let assurance = unsafe Self.assurance(for: entry.header(slot).pointee.state)
        // The slot is being copied, so its copy is ours; `beginCopy` has said where it goes.
        let target = unsafe entry.copy(slot).pointee.file ?? file
        var result = Result(failure: .valueNotPassed)
        unsafe entry.withSpillBytes(slot) { span in
            guard span.byteCount == byteCount else { return }
            result.failure = nil
            guard byteCount > 0 else { return }
            // The bytes are valid until this closure returns, and nobody changes them: the slot is being copied.
            unsafe span.withUnsafeBytes { bytes in
                for chunk in chunks where result.failure == nil {
                    let range = SegmentFile.chunkRange(chunk, ofByteCount: byteCount)
                    let plain = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                    do throws(SpillFailure) {
                        let record = try unsafe write(
                            plain,
                            to: target,
                            encoder,
                            entry,
                            assurance,
                            purpose,
                            &result
                        )
                        unsafe entry.note(record, ofChunk: chunk, in: slot)
                        // What is in memory either way must at least become smaller.
                        if target.isInMemory, record.occupiedBytes > range.count * 9 / 10 { throw .notCompressible }
                    } catch {
                        result.failure = error
                    }
                }
            }
        }
        return result
    }

    func write(
        _ plain: UnsafeRawBufferPointer,
        to target: SegmentFile,
        _ encoder: ChunkEncoder,
        _ entry: CacheEntry,
        _ assurance: SpillAssurance,
        _ purpose: CodecChoice.Purpose,
        _ result: inout Result
    ) throws(SpillFailure) -> SpillRecord {
        if target.isInMemory {
            return try unsafe target.write(plain, with: encoder, compress: .deflate, assurance: assurance)
        }
        if let choice { return try unsafe target.write(plain, with: encoder, compress: choice, assurance: assurance) }
        let choice = next(for: entry, purpose, assurance)
        var record: SpillRecord
        do throws(SpillFailure) {
            record = try unsafe target.write(plain, with: encoder, compress: choice.request, assurance: assurance)
        } catch {
            // Compressed it may still fit.
            guard choice.isProvisional, error.isDiskFull else { throw error }
            return try unsafe target.write(plain, with: encoder, compress: .adaptive, assurance: assurance)
        }
        // One that fits a unit anyway gains nothing by being compressed.
        if choice.isProvisional, ChunkEncoder.compressedLimit(plain.count) != nil { result.isProvisional = true }
        note(encoder, entry, assurance)
        return record
    }

    /// What has to be known of a value's copy before the value may leave memory.
    static func assurance(for word: ResidencyWord) -> SpillAssurance { word.isReloadable ? .taken : .onDevice }

    func rates(_ assurance: SpillAssurance) -> Rates { assurance == .onDevice ? deviceRates : rates }

    /// What to do with the next chunk of a cache.
    func next(
        for entry: CacheEntry,
        _ purpose: CodecChoice.Purpose,
        _ assurance: SpillAssurance
    ) -> CodecChoice {
        let purpose: CodecChoice.Purpose = compressesLater ? purpose : .background
        var memory = CodecMemory(rawValue: entry.statistics.codecMemory.load(ordering: .relaxed))
        let outlook = entry.statistics.restoreOutlook
        let choice = rates(assurance).lock.withLock { CodecChoice.next(&memory, &$0, for: purpose, outlook) }
        // A lost race loses one count.
        entry.statistics.codecMemory.store(memory.rawValue, ordering: .relaxed)
        return choice
    }

    /// Learns from what a chunk took.
    private func note(_ encoder: ChunkEncoder, _ entry: CacheEntry, _ assurance: SpillAssurance) {
        guard let cost = encoder.lastCost else { return }
        var memory = CodecMemory(rawValue: entry.statistics.codecMemory.load(ordering: .relaxed))
        rates(assurance).lock.withLock { CodecChoice.note(cost, &memory, &$0) }
        entry.statistics.codecMemory.store(memory.rawValue, ordering: .relaxed)
    }
}
