package import PressureSystem

/// What a spill file may take, and how it treats the page cache.
package struct SpillLimits: Hashable, Sendable {
    /// The file never grows past this; `nil` for no limit of our own.
    package var maximumBytes: ByteCount?
    /// Space to be left free on the file system for everybody else.
    package var freeSpaceFloor: ByteCount
    /// Writes go to the device in windows and leave the page cache: needed wherever a cgroup limit counts
    /// the page cache too, since otherwise the spill frees nothing. Elsewhere the cache is a free second chance.
    package var bypassPageCache: Bool
    /// Bytes of a window; two of them are in the page cache at a time.
    package var writebackWindow: Int
    /// The most bytes on their way from the page cache to the device, all threads' together.
    package var mostWriteback: Int
    /// Blocks are given back as soon as a frame is released: right where that costs a microsecond and the blocks are
    /// memory. On a disk it may cost a hundred, so there it waits for idle time.
    package var returnsAtOnce: Bool

    /// Creates limits.
    package init(
        maximumBytes: ByteCount? = nil,
        freeSpaceFloor: ByteCount = .mebibytes(256),
        bypassPageCache: Bool = false,
        writebackWindow: Int = WritebackWindow.longest,
        mostWriteback: Int = .max,
        returnsAtOnce: Bool = false
    ) {
        self.maximumBytes = maximumBytes
        self.freeSpaceFloor = freeSpaceFloor
        self.bypassPageCache = bypassPageCache
        self.writebackWindow = writebackWindow
        self.mostWriteback = mostWriteback
        self.returnsAtOnce = returnsAtOnce
    }
}

/// What a spill file holds and takes at one moment. All sizes in bytes.
package struct SpillUsage: Hashable, Sendable {
    /// Frames that can be restored.
    package var frames = 0
    /// Plain bytes of those frames.
    package var plainBytes = 0
    /// Stored bytes of those frames, headers included.
    package var storedBytes = 0
    /// Their extents: `storedBytes` rounded up to 4 KiB each.
    package var occupiedBytes = 0
    /// Free bytes between extents, ready for reuse.
    package var freeBytes = 0
    /// Free bytes whose blocks, as far as is known, the file still holds: what `punchPending()` would give back.
    package var pendingBytes = 0
    /// Size of the file.
    package var fileBytes = 0
    /// Blocks of the file (`st_blocks` × 512): its true price. `nil` when the system would not say.
    package var allocatedBytes: Int?
    /// Frames written since the file was opened.
    package var framesWritten = 0
    /// Stored bytes written since the file was opened.
    package var bytesWritten = 0
    /// Bytes given back by punching and truncating since the file was opened.
    package var bytesReturned = 0
    /// Windows whose write-back failed. Their frames may be gone.
    package var writebackFailures = 0
}
