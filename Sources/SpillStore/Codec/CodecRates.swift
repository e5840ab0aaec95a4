import PressureSystem

/// How fast the codec and the file are here and now: moving averages over about 16 chunks, as DuckDB keeps them for its
/// temporary files. 24 bytes, trivial; one for all caches that write to one file.
///
/// Answers the one question of a reclaim: is it faster to write the bytes as they are, and to compress them when things
/// are calm? Pure: time is what the caller measured.
package struct CodecRates: Hashable, Sendable, BitwiseCopyable {
    /// The weight of a new measurement is one in this many, once there are as many.
    package static let window = 16
    /// How much faster storing has to be before compressing is put off: a stored copy takes more of the disk, and
    /// will be written twice. DuckDB favours compression by the same factor.
    package static let advantage = 2.0
    /// How much faster it has to remain.
    package static let remainingAdvantage = 1.5
    /// What compressing is expected to leave where nothing is known yet: what deflate and zstd made of mixed real
    /// data.
    package static let usualRatio = 0.5
    /// Chunks that are compressed, of this many, while compressing is put off: without them nobody would notice that
    /// the disk has become slow or that another codec's turn has come.
    package static let sampling = 64

    /// Nanoseconds of the codec for each plain byte, of chunks that compressed.
    private var codec: Float = 0
    /// Nanoseconds of the file for each stored byte.
    private var file: Float = 0
    private var codecCount: UInt16 = 0
    private var fileCount: UInt16 = 0
    private var sinceSample: UInt16 = 0
    private var isPuttingOff = false

    /// Nothing is known: compressing is not put off.
    package init() {}

    /// Nanoseconds the codec takes for a plain byte; `nil` before the first measurement.
    package var codecNanoseconds: Double? { codecCount == 0 ? nil : Double(codec) }
    /// Nanoseconds the file takes for a stored byte; `nil` before the first measurement.
    package var fileNanoseconds: Double? { fileCount == 0 ? nil : Double(file) }

    /// Notes what a chunk took. Chunks shorter than a page say more about system calls than about rates, and a
    /// duration that is not positive says nothing: both are passed over.
    package mutating func note(_ cost: ChunkCost) {
        guard cost.plainBytes >= 4096 else { return }
        if cost.codec != .stored {
            Self.add(cost.encodeTime, cost.plainBytes, to: &codec, &codecCount)
        }
        Self.add(cost.writeTime, cost.storedBytes, to: &file, &fileCount)
    }

    private static func add(_ time: Duration, _ bytes: Int, to average: inout Float, _ count: inout UInt16) {
        guard bytes > 0, time > .zero else { return }
        let rate = Float(time.nanoseconds) / Float(bytes)
        // A plain mean until the window is full: the first measurement must not weigh more than the others.
        if count < window { count += 1 }
        average += (rate - average) / Float(count)
    }

    /// Nanoseconds until a plain byte is in the file compressed to `ratio`, as one thread sees it; `nil` before both
    /// codec and file were measured. Without compressing it is ``fileNanoseconds``.
    package func compressingNanoseconds(ratio: Double?) -> Double? {
        guard let codec = codecNanoseconds, let file = fileNanoseconds else { return nil }
        return codec + (ratio ?? Self.usualRatio) * file
    }

    /// Whether a reclaim should write the next chunk as it is and leave compressing it for calm times. Asked once for
    /// each chunk: it counts, has a hysteresis, and lets one chunk of ``sampling`` be compressed all the same.
    ///
    /// Both ways are compared as one thread sees them, its waits for other writers included: however many threads
    /// there are, each has the same choice.
    ///
    /// - Parameter ratio: what the cache's bytes compress to; `nil` if that is not known.
    package mutating func shouldStoreFirst(ratio: Double?) -> Bool {
        guard let storing = fileNanoseconds, let compressing = compressingNanoseconds(ratio: ratio) else {
            return false
        }
        isPuttingOff = storing * (isPuttingOff ? Self.remainingAdvantage : Self.advantage) <= compressing
        guard isPuttingOff else {
            sinceSample = 0
            return false
        }
        sinceSample += 1
        guard sinceSample < Self.sampling else {
            sinceSample = 0
            return false
        }
        return true
    }
}
