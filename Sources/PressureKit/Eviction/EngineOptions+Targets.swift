import PressureSystem
import SpillStore

/// Where values are spilled to: a disk, what is behind it, or what is in its place.
extension EngineOptions {
    /// Where the spill file is; `nil` for a server in place of a disk. Blocks; allocates.
    ///
    /// - Throws: ``PressureError`` with code `spillDirectoryUnusable`, if there is no server either.
    func chooseDirectory() throws(PressureError) -> SpillDirectory? {
        if remote?.replacesDisk ?? false { return nil }
        do throws(PressureError) {
            return try SpillDirectory.choose(
                option: spillDirectory,
                environment: environment ?? ProcessEnvironment.variables(SpillDirectory.variable),
                fileSystem: fileSystem,
                allowsRAM: allowsMemoryBackedSpill
            )
        } catch {
            guard remote != nil else { throw error }
            return nil
        }
    }

    /// What is written to first. Blocks; allocates.
    func primary(
        in directory: SpillDirectory?,
        _ reserves: Reserves,
        isLimited: Bool
    ) throws(PressureError) -> SpillTarget {
        if directory == nil, let remote {
            return try target(on: remote, limit: spillLimit, compressesLater: compressesLater)
        }
        let file = try SegmentFile(
            directory: directory ?? SpillDirectory(server: ""),
            fileSystem: fileSystem,
            limits: SpillLimits(
                maximumBytes: spillLimit,
                freeSpaceFloor: freeSpaceFloor,
                bypassPageCache: bypassesPageCache ?? isLimited,
                writebackWindow: reserves.window,
                mostWriteback: reserves.writeback
            ),
            cipher: cipher()
        )
        return target(file, compressesLater: compressesLater)
    }

    /// The server behind a disk, tried once, or `nil`. Blocks; allocates.
    func secondary(behind primary: SpillTarget) throws(PressureError) -> SpillTarget? {
        guard let remote, primary.server == nil else { return nil }
        // What goes there in idle time is compressed at once, and what a reclaim sends had nowhere else to go.
        let target = try target(on: remote, limit: nil, compressesLater: false, decoders: primary.file.decoders)
        try target.file.rehearse(ChunkEncoder(clock: clock), ChunkDecoder())
        return target
    }

    private func target(
        on remote: RemoteOptions,
        limit: ByteCount?,
        compressesLater: Bool,
        decoders: DecoderPool = DecoderPool()
    ) throws(PressureError) -> SpillTarget {
        let limits = [limit, remote.limit].compactMap(\.self)
        let file = try SegmentFile(
            directory: SpillDirectory(server: remote.path),
            fileSystem: remote.fileSystem,
            // Between us and a server there is no page cache, and what is free there it says when nothing is.
            limits: SpillLimits(maximumBytes: limits.min(), freeSpaceFloor: .zero, bypassPageCache: false),
            cipher: cipher(),
            decoders: decoders
        )
        return target(file, compressesLater: compressesLater)
    }

    private func target(_ file: SegmentFile, compressesLater: Bool) -> SpillTarget {
        SpillTarget(file, choice: compression, compressesLater: compressesLater, clock: clock)
    }
}
