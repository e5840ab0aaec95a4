import PressureSystem
import SpillStore

/// Where values are spilled to: a disk, what is behind it, or what is in its place.
extension EngineOptions {
    /// What is written to first.
    enum FirstPlace {
        case disk(SpillDirectory)
        /// In place of a disk.
        case server(RemoteOptions)

        /// How many writes may be waited for at the same time without taking a processor.
        var requests: Int {
            switch self {
            case .disk: 1
            case .server(let remote): remote.connections
            }
        }

        var isMemoryBacked: Bool {
            switch self {
            case .disk(let directory): directory.isMemoryBacked
            case .server: false
            }
        }
    }

    /// Chooses what is written to first. Blocks; allocates.
    ///
    /// - Throws: ``PressureError`` with code `spillDirectoryUnusable`, if there is no server either.
    func chooseFirstPlace() throws(PressureError) -> FirstPlace {
        if let remote, remote.replacesDisk { return .server(remote) }
        do throws(PressureError) {
            return .disk(
                try SpillDirectory.choose(
                    option: spillDirectory,
                    environment: environment ?? ProcessEnvironment.variables(SpillDirectory.variable),
                    fileSystem: fileSystem,
                    allowsRAM: allowsMemoryBackedSpill
                )
            )
        } catch {
            guard let remote else { throw error }
            return .server(remote)
        }
    }

    /// Opens it. Blocks; allocates.
    func primary(
        in place: FirstPlace,
        _ reserves: Reserves,
        isLimited: Bool
    ) throws(PressureError) -> SpillTarget {
        switch place {
        case .server(let remote):
            try target(on: remote, limit: spillLimit, compressesLater: compressesLater)
        case .disk(let directory):
            try target(in: directory, reserves, isLimited: isLimited)
        }
    }

    private func target(
        in directory: SpillDirectory,
        _ reserves: Reserves,
        isLimited: Bool
    ) throws(PressureError) -> SpillTarget {
        let file = try SegmentFile(
            directory: directory,
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
