import PressureSystem
import SpillStore

extension PressureConfiguration {
    /// What the engine is made with.
    var engine: EngineOptions {
        let space = remoteSpace
        return EngineOptions(
            spillDirectory: spillDirectory,
            allowsMemoryBackedSpill: allowsMemoryBackedSpill,
            spillLimit: spillLimit,
            freeSpaceFloor: space == nil ? freeSpaceFloor : .zero,
            // Between us and a server there is none.
            bypassesPageCache: space == nil ? bypassesPageCache : false,
            cipher: cipher,
            compressedTier: compressedTier,
            compression: compression,
            compressesLater: compressesLater,
            policy: policy ?? evictionOrder.policy,
            plannedValues: plannedValues,
            workers: workers,
            processors: processors,
            limits: limits,
            environment: environment,
            fileSystem: fileSystem,
            remote: space,
            clock: clock,
            residentBytes: residentBytes,
            measuresHeap: residentBytes == nil && !isSequential,
            allocationProbe: allocationProbe
        )
    }

    /// Where values go in place of a disk; `nil` for a file.
    private var remoteSpace: (any FileSystem)? {
        #if Redis
        remote.map { RedisSpace($0.options, clock: clock) }
        #else
        nil
        #endif
    }
}
