import PressureSignals
import PressureSystem
import SpillStore

/// What an engine is made with: the part of a manager's configuration that is its business.
struct EngineOptions: Sendable {
    var spillDirectory: String?
    var allowsMemoryBackedSpill: Bool
    var spillLimit: ByteCount?
    var freeSpaceFloor: ByteCount
    var bypassesPageCache: Bool?
    var cipher: SpillCipher?
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
    /// The server that is spilled to; `nil` for a file.
    var remote: (any FileSystem)?
    var clock: any MonotonicClock
    /// In place of the process's resident memory.
    var residentBytes: (@Sendable () -> Int)?
    /// Whether what is free in the heap counts: a run that is to be repeated does without.
    var measuresHeap: Bool
    var allocationProbe: AllocationProbe?
}

extension EngineOptions {
    /// Where the spill file is: on a server, if there is to be one, and then no directory is looked at. Blocks; allocates.
    func chooseDirectory() throws(PressureError) -> SpillDirectory {
        if let server = remote?.server { return SpillDirectory(server: server) }
        return try SpillDirectory.choose(
            option: spillDirectory,
            environment: environment ?? ProcessEnvironment.variables(SpillDirectory.variable),
            fileSystem: fileSystem,
            allowsRAM: allowsMemoryBackedSpill
        )
    }
}
