import PressureSignals
package import PressureSystem
import SpillStore

/// What an engine is made with: the part of a manager's configuration that is its business.
struct EngineOptions: Sendable {
    var spillDirectory: String?
    var allowsMemoryBackedSpill: Bool
    var spillLimit: ByteCount?
    var freeSpaceFloor: ByteCount
    var bypassesPageCache: Bool?
    /// Makes a cipher for a spill file; `nil` for none.
    var cipher: @Sendable () -> SpillCipher?
    var compressedTier: CompressedTier
    /// What to do with every chunk; `nil` to decide by what was measured.
    var compression: CompressionChoice?
    var compressesLater: Bool
    var policy: any EvictionPolicy
    var plannedValues: Int
    /// Threads; `nil` for as many as limit and quota allow.
    var workers: Int?
    var processors: (@Sendable () -> Int)?
    /// Where limits on memory and processor time are looked for.
    var limits: SignalContext
    var environment: [String: String]?
    var fileSystem: any FileSystem
    /// The server behind the disk, or in its place; `nil` for none.
    var remote: RemoteOptions?
    var clock: any MonotonicClock
    /// In place of the process's resident memory.
    var residentBytes: (@Sendable () -> Int)?
    /// In place of the process's own heap.
    var heap: FreeHeap?
    /// Whether what is free in the heap counts: a run that is to be repeated does without.
    var measuresHeap: Bool
    /// Whether another thread than the one that frees memory writes what is to leave a full cache: a run that is to be repeated has one
    /// do all.
    var writesAside: Bool
    var allocationProbe: AllocationProbe?
}

/// The server behind the disk, or in its place.
package struct RemoteOptions: Sendable {
    package var fileSystem: any FileSystem
    /// What stands for a directory there.
    package var path: String
    /// The most bytes there.
    package var limit: ByteCount?
    /// Whether no disk is looked for.
    package var replacesDisk: Bool
    /// How many requests may be under way at the same time.
    package var connections: Int

    /// A server behind the disk, if there is one, unless it is said.
    package init(
        fileSystem: any FileSystem,
        path: String,
        limit: ByteCount? = nil,
        replacesDisk: Bool = false,
        connections: Int = 1
    ) {
        self.fileSystem = fileSystem
        self.path = path
        self.limit = limit
        self.replacesDisk = replacesDisk
        self.connections = connections
    }
}
