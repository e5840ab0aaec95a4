import SpillStore
import Synchronization

/// Small values that leave a cache because it keeps to its own limit, and are written together: of one by one, each takes a write
/// and, if nobody can make it again, a write to the device that is waited for and read back.
struct LimitBatch: BatchedVictims {
    /// A sixteenth of the writes, and no more than a moment's values leave ahead of their time.
    static let mostValues = 16

    private let entry: CacheEntry
    /// Where they go.
    let target: SpillTarget
    let purpose = CodecChoice.Purpose.reclaim
    private var addresses = InlineArray<16, UInt>(repeating: 0)
    private(set) var count = 0
    /// What they take in memory.
    private(set) var bytes = 0
    /// Which of them have a copy, once they were written.
    fileprivate(set) var hasCopy = InlineArray<16, Bool>(repeating: false)

    init(of entry: CacheEntry, to target: SpillTarget) {
        self.entry = entry
        self.target = target
    }

    /// Whether a value gains from being written together with others.
    func takes(_ slot: UnsafeMutableRawPointer) -> Bool {
        let byteCount = unsafe entry.plainByteCount(slot)
        return 1...SegmentFile.longestBatched ~= byteCount
    }

    /// Adds a value, which is being copied from then on. Returns what it takes in memory; `nil` when it may not be.
    mutating func add(_ slot: UnsafeMutableRawPointer) -> Int? {
        guard count < Self.mostValues, unsafe entry.beginCopy(slot, in: target.file) else { return nil }
        addresses[count] = UInt(bitPattern: slot)
        count += 1
        let footprint = unsafe entry.header(slot).pointee.footprint.load(ordering: .relaxed)
        bytes += footprint
        return footprint
    }

    func entry(ofVictim victim: Int) -> CacheEntry { entry }

    func slot(ofVictim victim: Int) -> UnsafeMutableRawPointer {
        precondition(victim < count, "The batch has no such value.")
        // A slot is nobody else's while its value is being copied.
        return unsafe UnsafeMutableRawPointer(bitPattern: addresses[victim])!
    }

    func plainBytes(ofVictim victim: Int) -> Int { unsafe entry.plainByteCount(slot(ofVictim: victim)) }
}

extension ReclaimEngine {
    /// A batch for a cache that is above its limit; `nil` while writing is not to be tried.
    func limitBatch(of entry: CacheEntry) -> LimitBatch? { target.map { LimitBatch(of: entry, to: $0) } }

    /// Writes the copies of a batch. Blocks; allocates.
    func spill(_ batch: inout LimitBatch) {
        guard batch.count > 0 else { return }
        var hasCopy = batch.hasCopy
        var failures: [ResourceFailure] = []
        let isTried: Void? = withEncoder { encoder in
            batch.target.copier.copyBatch(0..<batch.count, of: batch, with: encoder) { victim, result in
                let (entry, slot) = unsafe (batch.entry(ofVictim: victim), batch.slot(ofVictim: victim))
                hasCopy[victim] = result.failure == nil
                unsafe entry.finishCopy(slot, succeeded: hasCopy[victim], isProvisional: result.isProvisional)
                guard !result.isUntried else { return }
                batch.target.note(result.failure)
                if let failure = result.failure {
                    failures.append(ResourceFailure(entry, failure, server: batch.target.server))
                }
            }
        }
        if isTried == nil {
            for victim in 0..<batch.count {
                unsafe batch.entry(ofVictim: victim).finishCopy(batch.slot(ofVictim: victim), succeeded: false)
            }
        }
        batch.hasCopy = hasCopy
        tell(Array(failures.prefix(1)), count: failures.count)
    }
}
