import PressureSystem
import Synchronization
import SystemPackage

extension SegmentFile {
    /// The most that is cut off the tail in one call, so that a writer who needs the tail waits for little.
    private static let cutLength: UInt32 = (64 << 20) / UInt32(ExtentAllocator.unitSize)

    /// Gives the blocks of all free extents back to the file system: the tail is cut off, holes are punched between
    /// what is live. Blocks; allocates nothing. For idle time: punching is dear once the data reached the device, and
    /// an extent that is reused needs none.
    ///
    /// Frames may be written and read meanwhile; an extent being punched is not handed out. What the file system
    /// refuses to punch stays free for reuse and is tried again at the next call.
    package func punchPending() {
        guard isOurs else { return }
        var unit: UInt32 = 0
        while let extent = state.withLock({ $0.allocator.takeHolding(from: unit, minimum: 1) }) {
            unit = extent.end
            let isPunched = isDone { () throws(Errno) in
                let range = (extent.start.byteOffset, extent.count.byteOffset)
                try fileSystem.punchHole(descriptor, at: range.0, count: range.1)
            }
            state.withLock { state in
                state.allocator.free(extent, holdsBlocks: !isPunched)
                if isPunched { state.usage.bytesReturned += Int(extent.count.byteOffset) }
            }
            if !isPunched { break }
        }
        while tail.withLock({ _ in cutTail() }) {}
    }

    /// Waits until all that was written is on the device and out of the page cache, when the limits ask for that.
    /// Blocks; allocates nothing.
    package func drainWriteback() {
        // A child of fork(2) shares the file's description, and would be told of failures in its parent's place.
        guard limits.bypassPageCache, isOurs else { return }
        perform(state.withLock { $0.window.drain() })
    }

    /// Cuts one piece off the end of the file: whether there may be more. Call with `tail` locked.
    ///
    /// `cutUnit` is never below a live extent's end, so that only extents handed out after it was set can lie behind
    /// it; their writers wait for `tail` before they write.
    private func cutTail() -> Bool {
        let cut: UInt32? = state.withLock { state in
            let end = state.allocator.end
            guard state.fileUnits > end else { return nil }
            state.cutUnit = max(end, state.fileUnits - min(state.fileUnits, Self.cutLength))
            return state.cutUnit
        }
        guard let cut else { return false }
        let isCut = isDone { () throws(Errno) in try fileSystem.truncate(descriptor, to: cut.byteOffset) }
        state.withLock { state in
            state.cutUnit = nil
            guard isCut else { return }
            state.usage.bytesReturned += Int((state.fileUnits - cut).byteOffset)
            state.fileUnits = max(cut, state.allocator.end)
        }
        return isCut
    }

    /// Says whether what is written from now on is written for its own sake, and nobody waits for it.
    package func writes(steadily isSteady: Bool) { state.withLock { $0.window.isSteady = isSteady } }

    /// Sizes for another limit on memory. Allocates nothing.
    ///
    /// - Parameters:
    ///   - window: bytes of a window of writes to the page cache.
    ///   - writeback: the most bytes on their way from the page cache to the device, all threads' together.
    package func resize(window: Int, writeback: Int, bypassesPageCache: Bool) {
        state.withLock { state in
            state.window.length = window
            state.window.most = writeback
        }
        let wasBypassed = bypasses.exchange(bypassesPageCache, ordering: .relaxed)
        // What is in an open window is nobody's any more.
        if wasBypassed, !bypassesPageCache { perform(state.withLock { $0.window.drain() }) }
    }

    private func isDone(_ call: () throws(Errno) -> Void) -> Bool {
        do {
            try call()
            return true
        } catch {
            return false
        }
    }
}

extension UInt32 {
    /// A number of units in bytes.
    fileprivate var byteOffset: Int64 { Int64(self) * Int64(ExtentAllocator.unitSize) }
}

extension SegmentFile {
    /// What part of what the file may take is taken, 0 … 1: of its own limit, or of what it has and the disk has free above the
    /// floor, whichever is nearer. Two system calls; allocates nothing.
    package var fullness: Double {
        let unit = ExtentAllocator.unitSize
        let live = state.withLock { $0.allocator.liveUnits } * unit
        guard live > 0 else { return 0 }
        let limit = limits.maximumBytes.map { Double(live) / Double(max(1, $0.bytes)) } ?? 0
        // Free extents whose blocks the file still has are free to it.
        guard let free = try? fileSystem.freeSpace(descriptor), let usage = try? fileSystem.usage(descriptor) else {
            return min(1, limit)
        }
        let holes = max(0, Int(clamping: usage.allocated) - live)
        let left = max(0, Int(clamping: free) - limits.freeSpaceFloor.bytes) + holes
        let disk = Double(live) / (Double(live) + Double(left))
        return min(1, max(limit, disk))
    }
}
