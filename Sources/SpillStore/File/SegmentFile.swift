import Glibc
package import PressureSystem
import Synchronization
import SystemPackage

/// One nameless file that holds the chunks of every spilled value: checked frames in extents of 4 KiB units.
///
/// Safe from any thread. `write` and `read` block on the disk and hold no lock while they do; the only lock guards the
/// allocator and the counters. Nothing here allocates once frames are reserved for. The file has no name, so the
/// kernel frees it when the process ends, however it ends.
package final class SegmentFile: Sendable {
    /// Bytes of a chunk: small enough for fixed scratch and for sharing one value between cores, large enough that
    /// deflate's ratio does not suffer (DuckDB spills blocks of the same size).
    package static let chunkSize = 256 << 10

    /// How many chunks `byteCount` bytes are cut into.
    package static func chunkCount(forByteCount byteCount: Int) -> Int { (byteCount + chunkSize - 1) / chunkSize }

    /// The bytes of chunk `index` of a value of `byteCount` bytes; the last chunk may be shorter.
    package static func chunkRange(_ index: Int, ofByteCount byteCount: Int) -> Range<Int> {
        index * chunkSize..<min((index + 1) * chunkSize, byteCount)
    }

    /// What the lock guards.
    struct State {
        var allocator: ExtentAllocator
        var usage = SpillUsage()
        var generation: UInt64 = 0
        /// Units from the start of the file that may hold blocks: its size, if all writes had ended.
        var fileUnits: UInt32 = 0
        /// While the tail is being cut off: the unit it is cut at.
        var cutUnit: UInt32?
        /// Bytes that may be written before free space is looked at again.
        var floorBudget = 0
        var window = WritebackWindow()
    }

    package let fileSystem: any FileSystem
    /// What reads it. Files of one manager share it.
    package let decoders: DecoderPool
    let descriptor: CInt
    /// The same file, opened to be written past the page cache; `nil` where that cannot be.
    let direct: CInt?
    /// Whether the file system has refused such a write.
    let isDirectRefused = Atomic<Bool>(false)
    private let stated: SpillLimits
    /// Whether the page cache is bypassed now: that follows the limit on memory.
    let bypasses: Atomic<Bool>
    /// Whether the system has refused a read that leaves nothing in the page cache.
    let isUncachedRefused = Atomic<Bool>(false)
    /// What has been read without that since it was dropped last.
    let cachedBytes = Atomic<Int>(0)
    /// What the file may take, and how it treats the page cache now.
    package var limits: SpillLimits {
        var limits = stated
        limits.bypassPageCache = bypasses.load(ordering: .relaxed)
        return limits
    }
    /// Counts windows that were waited for, for those who wait for others' windows.
    let finishes = ConditionLock(0)
    /// What seals the frames; `nil` where they lie open. Its key goes with the file.
    let cipher: SpillCipher?
    let state: Lock<State>
    /// Held while the tail is cut off, and passed through by writers whose extent lies where it is being cut.
    let tail = Lock(())
    /// Held by whoever waits for write-back, so that what they are told comes in one order.
    let completion = Lock(())
    /// How often one of them was told of a failure. Changed with `completion` locked.
    let failedCompletions = Atomic<Int>(0)
    /// The last failure that nobody has asked for yet; 0 for none.
    let lateErrno = Atomic<CInt>(0)
    /// What ``isDoubtful`` says.
    let doubt = Atomic<Bool>(false)
    /// Whether the file belongs to a saved state that was restored: nothing is written, and what is released stays.
    let isReadOnly: Bool
    /// The process that opened the file. A child of fork(2) has a copy of the tables and the same file.
    private let process = ProcessMark()

    /// Opens a new file in `directory`, without a cipher. Blocks, allocates.
    ///
    /// - Throws: ``PressureError`` with code `spillDirectoryUnusable`.
    package convenience init(
        directory: SpillDirectory,
        fileSystem: any FileSystem,
        limits: SpillLimits = SpillLimits()
    ) throws(PressureError) {
        try self.init(directory: directory, fileSystem: fileSystem, limits: limits, cipher: nil)
    }

    /// Opens a new file in `directory`, with a cipher of its own or none. Blocks, allocates.
    ///
    /// - Throws: ``PressureError`` with code `spillDirectoryUnusable`.
    package init(
        directory: SpillDirectory,
        fileSystem: any FileSystem,
        limits: SpillLimits,
        cipher: SpillCipher?,
        decoders: DecoderPool = DecoderPool()
    ) throws(PressureError) {
        do {
            descriptor = try fileSystem.openTemporary(in: directory.path)
        } catch {
            if let server = fileSystem.server { throw .serverUnusable(server, errno: error) }
            throw .spillFileNotOpened(directory: directory.path, errno: error)
        }
        direct = try? fileSystem.openDirect(descriptor)
        // Values come back in no order. Where a device is read far ahead (8 MiB are common in the cloud), two neighbours in a
        // row would bring hundreds of others into the memory that they were evicted from.
        fileSystem.expectRandomReads(descriptor)
        self.fileSystem = fileSystem
        self.decoders = decoders
        stated = limits
        bypasses = Atomic(limits.bypassPageCache)
        self.cipher = cipher
        isReadOnly = false
        let bytes = min(Int64(limits.maximumBytes?.bytes ?? .max), fileSystem.maximumFileSize)
        let units = UInt32(clamping: bytes / Int64(ExtentAllocator.unitSize))
        state = Lock(
            State(
                allocator: ExtentAllocator(limit: units),
                window: WritebackWindow(length: limits.writebackWindow, most: limits.mostWriteback)
            )
        )
    }

    deinit {
        if let direct { fileSystem.close(direct) }
        fileSystem.close(descriptor)
    }

    /// Whether this process may change the file. Memory is a child's own anyway.
    var isOurs: Bool { isInMemory || process.isThisProcess }

    /// Makes room for `count` frames in the file at once, so that writing and releasing that many allocates nothing.
    /// Call it outside reclaim, whenever a value is registered or grows. Allocates.
    package func reserve(frames count: Int) { state.withLock { $0.allocator.reserve(extents: count) } }

    /// What the file holds and takes now. One system call; allocates nothing.
    package func usage() -> SpillUsage {
        var usage = state.withLock { state in
            var usage = state.usage
            let unit = ExtentAllocator.unitSize
            usage.occupiedBytes = state.allocator.liveUnits * unit
            usage.freeBytes = state.allocator.freeUnits * unit
            usage.pendingBytes = (state.allocator.holdingUnits + Int(state.fileUnits - state.allocator.end)) * unit
            return usage
        }
        if let file = try? fileSystem.usage(descriptor) {
            usage.fileBytes = Int(file.size)
            usage.allocatedBytes = Int(file.allocated)
        }
        return usage
    }

    /// Takes over an open file: one with a saved state, to be written or, with `isReadOnly`, to be read as long as
    /// values have their copies there. Closes it when it is released.
    package init(
        adopting descriptor: CInt,
        fileSystem: any FileSystem,
        limits: SpillLimits,
        isReadOnly: Bool = false,
        decoders: DecoderPool = DecoderPool()
    ) {
        self.descriptor = descriptor
        self.fileSystem = fileSystem
        self.decoders = decoders
        stated = limits
        bypasses = Atomic(limits.bypassPageCache)
        self.isReadOnly = isReadOnly
        direct = nil
        cipher = nil
        let units = UInt32(clamping: fileSystem.maximumFileSize / Int64(ExtentAllocator.unitSize))
        state = Lock(State(allocator: ExtentAllocator(limit: units)))
    }

    /// The units from the start of the file to the end of the last frame.
    package var units: UInt32 { state.withLock { $0.fileUnits } }
}
