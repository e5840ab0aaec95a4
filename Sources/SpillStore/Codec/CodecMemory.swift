/// What is remembered of whether a cache's bytes can be compressed, so that a cache of pictures is not probed for every
/// picture. 8 bytes, trivial: it fits an atomic word, and an update that is lost costs one probe.
///
/// After four chunks in a row that had to be stored the next 16 are stored unseen; then one is tried again. Each try
/// in vain doubles the interval, up to 1024 chunks; a chunk that compresses ends it. So bytes that never compress are
/// looked at ever less often, and a cache whose values change their kind is found out. The stickiness is Blink's
/// (`ParkableString`, "compression failed"), the retries are ours.
///
/// Pure: no clock, no lock.
package struct CodecMemory: Hashable, Sendable, BitwiseCopyable {
    /// Chunks in a row that had to be stored before the next are stored unseen.
    package static let patience = 4
    /// How many are stored unseen at first.
    package static let firstInterval = 16
    /// How many at most.
    package static let longestInterval = 1024

    /// Chunks that will still be stored unseen.
    private var unseen: UInt16 = 0
    /// How many were to be stored unseen last time; 0 when the last chunk that was tried compressed.
    private var interval: UInt16 = 0
    /// Chunks in a row that were tried and had to be stored.
    private var failures: UInt16 = 0
    /// Moving average of stored by plain bytes of what was tried, in 65,535ths, plus 1; 0 for none.
    private var average: UInt16 = 0

    /// Nothing is known.
    package init() {}

    /// The memory whose ``rawValue`` this is.
    package init(rawValue: UInt64) {
        unseen = UInt16(truncatingIfNeeded: rawValue)
        interval = UInt16(truncatingIfNeeded: rawValue >> 16)
        failures = UInt16(truncatingIfNeeded: rawValue >> 32)
        average = UInt16(truncatingIfNeeded: rawValue >> 48)
    }

    /// All of it in one word, for an atomic.
    package var rawValue: UInt64 {
        UInt64(unseen) | UInt64(interval) << 16 | UInt64(failures) << 32 | UInt64(average) << 48
    }

    /// Stored by plain bytes of what was tried, a moving average over about eight chunks; `nil` before the first.
    package var ratio: Double? { average == 0 ? nil : Double(average - 1) / 65_534 }

    /// Whether the next chunk is to be tried at all. Asked once for each chunk: it counts.
    package mutating func triesNext() -> Bool {
        guard unseen > 0 else { return true }
        unseen -= 1
        return false
    }

    /// Notes what came of a chunk that was tried.
    package mutating func note(_ trial: CodecTrial) {
        note(plainBytes: trial.plainBytes, storedBytes: trial.storedBytes, isCompressed: trial.codec != .stored)
    }

    /// Notes what came of a chunk that was tried.
    ///
    /// - Parameters:
    ///   - plainBytes: the chunk's length; nothing is noted for 0.
    ///   - storedBytes: its length in the file.
    ///   - isCompressed: whether it was compressed, or stored because that would not have paid.
    package mutating func note(plainBytes: Int, storedBytes: Int, isCompressed: Bool) {
        guard plainBytes > 0 else { return }
        let share = min(max(Double(storedBytes) / Double(plainBytes), 0), 1)
        let next = ratio.map { $0 + (share - $0) / 8 } ?? share
        average = UInt16((next * 65_534).rounded()) + 1
        if isCompressed {
            (unseen, interval, failures) = (0, 0, 0)
            return
        }
        failures = failures < .max ? failures + 1 : failures
        guard failures >= Self.patience else { return }
        interval = interval == 0 ? UInt16(Self.firstInterval) : min(interval * 2, UInt16(Self.longestInterval))
        unseen = interval
    }
}
