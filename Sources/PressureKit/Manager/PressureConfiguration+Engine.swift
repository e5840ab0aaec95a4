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
            cipher: { self.cipher },
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
            remote: remoteOptions,
            clock: clock,
            residentBytes: residentBytes,
            heap: heap,
            measuresHeap: residentBytes == nil && !isSequential,
            writesAside: !isSequential,
            allocationProbe: allocationProbe
        )
    }

    /// Where values go behind the disk, or in its place; `nil` for nowhere.
    private var remoteOptions: RemoteOptions? {
        #if Redis
        if let remote {
            return RemoteOptions(
                fileSystem: RedisSpace(remote.options, clock: clock),
                path: remote.description,
                limit: remote.limit,
                replacesDisk: remote.replacesDisk,
                connections: remote.connections
            )
        }
        #endif
        return behindDisk
    }
}
