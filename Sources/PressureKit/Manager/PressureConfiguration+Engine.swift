import PressureSystem
import SpillStore

extension PressureConfiguration {
    /// What the engine is made with.
    var engine: EngineOptions {
        EngineOptions(
            spillDirectory: spillDirectory,
            allowsMemoryBackedSpill: allowsMemoryBackedSpill,
            spillLimit: spillLimit,
            freeSpaceFloor: freeSpaceFloor,
            bypassesPageCache: bypassesPageCache,
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
            clock: clock,
            residentBytes: residentBytes,
            measuresHeap: residentBytes == nil && !isSequential,
            allocationProbe: allocationProbe
        )
    }
}
