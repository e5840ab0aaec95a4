package import PressureSystem

extension SegmentFile {
    /// A segment file in memory, for values that are compressed and stay there: of at most `limit` bytes.
    ///
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no address space.
    package convenience init(inMemory limit: ByteCount, decoders: DecoderPool = DecoderPool()) throws(PressureError) {
        let limits = SpillLimits(
            maximumBytes: limit,
            freeSpaceFloor: .zero,
            returnsAtOnce: true
        )
        let nowhere = SpillDirectory(path: "", origin: .fallback, isMemoryBacked: true)
        let arena = try MemoryArena(capacity: limit)
        try self.init(directory: nowhere, fileSystem: arena, limits: limits, cipher: nil, decoders: decoders)
    }

    /// Whether `byteCount` more bytes have room below the limit, as far as is known without placing them.
    package func hasRoom(for byteCount: Int) -> Bool {
        guard let most = limits.maximumBytes?.bytes else { return true }
        return state.withLock { $0.allocator.liveUnits } * ExtentAllocator.unitSize + byteCount <= most
    }
}

extension SegmentFile {
    /// Whether the file is memory.
    package var isInMemory: Bool { limits.returnsAtOnce }

    /// Frees a frame's extent and gives its blocks back. One system call; allocates nothing.
    func releaseAtOnce(_ record: SpillRecord) {
        // Of a unit that is shared only the last frame's release gives anything back.
        var extent: Extent? = record.extent
        if record.isShared { extent = state.withLock { $0.allocator.takeLastFrame(of: record.unit) } }
        // Before the extent is free: afterwards it may be somebody else's.
        var isReturned = false
        if let extent { isReturned = punch(extent) }
        state.withLock { state in
            if let extent { state.allocator.free(extent, holdsBlocks: !isReturned) }
            // What lies behind the last live frame has been given back piece by piece.
            if state.allocator.holdingUnits == 0 { state.fileUnits = state.allocator.end }
            state.usage.forget(record)
        }
    }

    private func punch(_ extent: Extent) -> Bool {
        let units = extent.bytes
        do {
            try fileSystem.punchHole(descriptor, at: units.lowerBound, count: Int64(units.count))
        } catch {
            return false
        }
        state.withLock { $0.usage.bytesReturned += units.count }
        return true
    }
}
