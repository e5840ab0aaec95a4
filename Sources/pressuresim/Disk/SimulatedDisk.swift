import PressureKit
import SampleContent
import Synchronization
import SystemPackage

/// The disk that a scenario's manager spills to: the real one, made slower, full or faulty where the scenario says so.
///
/// Everything is really written and read. In virtual time the disk takes the time of ``DiskCondition/imagined`` and says
/// what a disk of 1 TiB with nothing else on it would say of space and blocks, so that nothing of the machine shows.
/// Safe from any thread, as a `FileSystem` has to be.
final class SimulatedDisk: Sendable {
    let base: LinuxFileSystem
    let time: any DiskTime
    /// Whether space and blocks are this disk's own, and write-back and synchronising are only charged.
    let isImagined: Bool
    private let present: Lock<DiskCondition>
    private let maps = Lock<[CInt: BlockMap]>([:])
    private let counts = Lock(Counts())
    private let random: Lock<SplitMix64>
    /// Tells which places are bad; one of its own for each disk.
    private let seed: UInt64

    /// What went through the disk so far.
    struct Counts: Hashable, Sendable {
        var bytesRead = 0
        var bytesWritten = 0
        var requests = 0
        /// Requests that the condition refused.
        var refused = 0
    }

    /// Bytes that an imagined disk has room for.
    static let imaginedSize: Int64 = 1 << 40

    /// - Parameter seed: decides which requests fail, where some do.
    init(time: any DiskTime, isImagined: Bool, seed: UInt64 = 1) {
        base = LinuxFileSystem()
        self.seed = seed
        random = Lock(SplitMix64(seed: seed, stream: 0xD15C))
        self.time = time
        self.isImagined = isImagined
        present = Lock(isImagined ? .imagined : .asItIs)
    }

    /// How the disk behaves without a scenario's word.
    var usual: DiskCondition { isImagined ? .imagined : .asItIs }

    /// How it behaves from now on. Requests under way are not touched.
    var condition: DiskCondition {
        get { present.withLock { $0 } }
        set { present.withLock { $0 = newValue } }
    }

    /// What went through so far.
    var traffic: Counts { counts.withLock { $0 } }

    // MARK: For the file system

    /// Reads at a place, and takes the time that the condition says: how many bytes.
    ///
    /// - Throws: what the condition refuses, or the read throws.
    func timed(readingAt offset: Int64, _ read: () throws(Errno) -> Int) throws(Errno) -> Int {
        let condition = condition
        if condition.failingReads > 0 {
            var place = SplitMix64(seed: seed, stream: UInt64(bitPattern: offset / BlockMap.blockSize))
            if place.unit() < condition.failingReads { throw refuse(.ioError, condition) }
        }
        let start = time.now()
        let done = try read()
        count(read: done)
        time.wait(condition.duration(reading: done), since: start)
        return done
    }

    /// Begins to write.
    ///
    /// - Throws: what the condition refuses.
    func beginWriting() throws(Errno) -> (condition: DiskCondition, start: MonotonicInstant) {
        let condition = condition
        if condition.isFull { throw refuse(.noSpace, condition) }
        if condition.failingWrites > 0, random.withLock({ $0.unit() }) < condition.failingWrites {
            throw refuse(.ioError, condition)
        }
        return (condition, time.now())
    }

    private func refuse(_ error: Errno, _ condition: DiskCondition) -> Errno {
        counts.withLock { $0.refused += 1 }
        // A disk that refuses has been asked all the same.
        time.wait(condition.latency, since: time.now())
        return error
    }

    func count(read: Int = 0, written: Int = 0) {
        counts.withLock { counts in
            counts.bytesRead += read
            counts.bytesWritten += written
            counts.requests += 1
        }
    }

    /// Changes what is known of an open file's blocks, on an imagined disk.
    func changeBlocks(_ descriptor: CInt, _ change: (inout BlockMap) -> Void) {
        guard isImagined else { return }
        maps.withLock { change(&$0[descriptor, default: BlockMap()]) }
    }

    /// What is known of them; `nil` for a file that was there before, and on a real disk.
    func blocks(_ descriptor: CInt) -> BlockMap? { isImagined ? maps.withLock { $0[descriptor] } : nil }

    /// Bytes of all open files on an imagined disk.
    var allocatedBytes: Int64 { maps.withLock { $0.values.reduce(0) { $0 + $1.allocatedBytes } } }

    func forget(_ descriptor: CInt) { maps.withLock { _ = $0.removeValue(forKey: descriptor) } }
}
