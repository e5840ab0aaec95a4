import PressureSystem

/// How fast the codec and the file are here and now: bytes over time, of about the last 4 MiB each. 28 bytes, trivial; one
/// for all caches that write to one file.
///
/// Answers the one question of a reclaim: is it faster to write the bytes as they are, and perhaps to compress them when
/// nothing is urgent? Reading them back counts as often as a copy is read: a full cache writes a copy once and reads it
/// many times. Pure: time is what the caller measured.
package struct CodecRates: Hashable, Sendable, BitwiseCopyable {
    /// How much faster storing has to be before compressing is put off: a stored copy takes more of the disk, and
    /// will be written twice. DuckDB favours compression by the same factor.
    package static let advantage = 2.0
    /// How much faster it has to remain.
    package static let remainingAdvantage = 1.5
    /// What the file's time counts while nobody waits for it.
    static let unawaited = 0.25
    /// What compressing is expected to leave where nothing is known yet: what deflate and zstd made of mixed real
    /// data.
    package static let usualRatio = 0.5
    /// Of this many chunks one goes the other way: without them nobody would notice that the disk has become slow, or fast
    /// again, or that another codec's turn has come.
    package static let sampling = 64

    /// What the codec took for plain bytes, of chunks that compressed.
    private var codec = ByteRate()
    /// What the file took for the bytes of compressed chunks.
    private var small = ByteRate()
    /// What it took for chunks as they are. They may go another way than smaller ones, and share its waits with more bytes.
    private var whole = ByteRate()
    private var sinceSample: UInt16 = 0
    private var isPuttingOff = false

    /// Nothing is known: compressing is not put off.
    package init() {}

    /// Nanoseconds the codec takes for a plain byte; `nil` before the first measurement.
    package var codecNanoseconds: Double? { codec.perByte }
    /// Nanoseconds the file takes for a byte of a chunk as it is, or of any chunk while no such one was measured; `nil` before
    /// the first measurement.
    package var fileNanoseconds: Double? { whole.perByte ?? small.perByte }

    /// Notes what a chunk took. Fewer bytes than a page say more about system calls than about rates, on either side of the
    /// codec, and a duration that is not positive says nothing: all are passed over.
    package mutating func note(_ cost: ChunkCost) {
        guard cost.plainBytes >= 4096 else { return }
        if cost.codec == .stored {
            whole.note(cost.writeTime, cost.storedBytes)
        } else {
            codec.note(cost.encodeTime, cost.plainBytes)
            // A chunk of zeros would make any disk slow.
            if cost.storedBytes >= 4096 { small.note(cost.writeTime, cost.storedBytes) }
        }
    }

    /// Notes what a batch took; less than a page is passed over, as above.
    package mutating func note(_ cost: BatchCost) {
        guard cost.storedBytes >= 4096 else { return }
        codec.note(cost.encodeTime, cost.packedPlainBytes)
        if cost.isPacked {
            small.note(cost.writeTime, cost.storedBytes)
        } else {
            whole.note(cost.writeTime, cost.storedBytes)
        }
    }

    /// Whether a reclaim should write the next chunk as it is and leave compressing it for idle time. Asked once for
    /// each chunk: it counts, has a hysteresis, and lets one chunk of ``sampling`` go the other way.
    ///
    /// Both ways are compared as one thread sees them, its waits for other writers included: however many threads
    /// there are, each has the same choice.
    ///
    /// - Parameters:
    ///   - ratio: what the cache's bytes compress to; `nil` if that is not known.
    ///   - outlook: what reading the copy will take.
    ///   - isAwaited: whether somebody waits until the chunk is written. If nobody does, the file's time counts a quarter: the
    ///     thread sleeps meanwhile, where a codec takes a processor from everybody else.
    package mutating func shouldStoreFirst(
        ratio: Double?,
        _ outlook: RestoreOutlook = .none,
        isAwaited: Bool = true
    ) -> Bool {
        let weight = isAwaited ? 1 : Self.unawaited
        guard let file = fileNanoseconds, let codec = codecNanoseconds else { return false }
        let storing = weight * file
        let compressing = codec + weight * (ratio ?? Self.usualRatio) * (small.perByte ?? file)
        let factor = isPuttingOff ? Self.remainingAdvantage : Self.advantage
        let putsOff = storing * factor + outlook.whole <= compressing + outlook.packed
        isPuttingOff = putsOff
        sinceSample += 1
        guard sinceSample >= Self.sampling else { return putsOff }
        sinceSample = 0
        return !putsOff
    }
}
