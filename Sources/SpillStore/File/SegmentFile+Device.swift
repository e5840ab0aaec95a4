import Glibc
import PressureSystem
import Synchronization
import SystemPackage

/// How a frame comes to where it is to be, and how sure that is.
extension SegmentFile {
    /// Writes a frame, or the frames of a batch, at the beginning of an extent. Blocks; allocates nothing.
    ///
    /// - Parameters:
    ///   - frame: what is written. It may lie in the encoder's memory, which holds anything afterwards.
    ///   - assurance: what has to be known before this returns.
    ///   - isIntact: whether bytes that begin like the frame's are the frame's, told without the frame.
    /// - Returns: whether it is on the device, so that no writeback is to be started or waited for.
    /// - Throws: `notWritten` when something else came back; else why it could not be written or read.
    func put(
        _ frame: UnsafeRawBufferPointer,
        at offset: Int64,
        _ assurance: SpillAssurance,
        with encoder: ChunkEncoder,
        isIntact: (UnsafeRawBufferPointer) -> Bool
    ) throws(SpillFailure) -> Bool {
        if assurance == .onDevice, !isInMemory {
            try unsafe putOnDevice(frame, at: offset, with: encoder, isIntact: isIntact)
            return true
        }
        if assurance == .taken, limits.bypassPageCache, frame.count >= Self.shortestDirect,
            try unsafe writeDirect(encoder.wholeUnits(of: frame), at: offset) != nil
        {
            doubt.store(false, ordering: .relaxed)
            return true
        }
        try unsafe writePayload(frame, at: offset, to: descriptor)
        if assurance == .readBack, try unsafe !isWritten(frame, at: offset, with: encoder) { throw .notWritten }
        return false
    }

    /// From how many bytes on a frame that the page cache may have is written past it, where a limit counts that. The page
    /// cache has to find memory for it, which a full cgroup makes a matter of milliseconds. Of shorter frames each would
    /// wait for the device alone, where the page cache writes many at a time: direct writes of 32 KiB cost two fifths of
    /// the reads beside a swing of other memory.
    static let shortestDirect = 128 << 10

    /// Past the page cache if that can be: the write's own result is the device's then, and so is what is read. Where it
    /// cannot be, through the page cache, to be waited for.
    ///
    /// The device may keep it in a volatile cache of its own, which is not flushed: a loss of power ends the process too,
    /// and the file with it.
    private func putOnDevice(
        _ frame: UnsafeRawBufferPointer,
        at offset: Int64,
        with encoder: ChunkEncoder,
        isIntact: (UnsafeRawBufferPointer) -> Bool
    ) throws(SpillFailure) {
        let units = unsafe encoder.wholeUnits(of: frame)
        let failures = failedCompletions.load(ordering: .sequentiallyConsistent)
        let direct = try unsafe writeDirect(units, at: offset)
        if direct == nil {
            try unsafe writePayload(units, at: offset, to: descriptor)
            try confirm(WritebackWindow.Range(lower: offset, upper: offset + Int64(units.count)), since: failures)
        }
        // From the device: nothing of the range is in the page cache now. Into memory where no other frame lies, and
        // which does not hold the right bytes already, should the read do nothing.
        let isInPlace = unsafe units.baseAddress == UnsafeRawPointer(encoder.outputBytes.baseAddress)
        let found = unsafe UnsafeMutableRawBufferPointer(rebasing: encoder.outputBytes[..<units.count])
        unsafe memset(found.baseAddress!, 0xA5, found.count)
        guard try unsafe read(found, at: offset, from: direct) else { throw .notWritten }
        let isSame =
            isInPlace
            ? unsafe isIntact(UnsafeRawBufferPointer(found))
            : unsafe memcmp(found.baseAddress!, frame.baseAddress!, frame.count) == 0
        guard isSame else { throw .notWritten }
        doubt.store(false, ordering: .relaxed)
    }

    /// Writes whole units past the page cache; returns the descriptor that goes there, or `nil` where there is no such
    /// thing.
    private func writeDirect(_ units: UnsafeRawBufferPointer, at offset: Int64) throws(SpillFailure) -> CInt? {
        guard let direct, !isDirectRefused.load(ordering: .relaxed) else { return nil }
        do {
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            try unsafe fileSystem.writeFully(direct, at: offset, from: units, nothing)
            return direct
        } catch {
            // Some file systems open such a file and take no write.
            guard error == .invalidArgument || error == .notSupported else { throw .writeFailed(error) }
            isDirectRefused.store(true, ordering: .relaxed)
            return nil
        }
    }

    /// Reads what was just written; whether there was as much.
    private func read(
        _ found: UnsafeMutableRawBufferPointer,
        at offset: Int64,
        from direct: CInt?
    ) throws(SpillFailure) -> Bool {
        do {
            let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
            let count = try unsafe fileSystem.readFully(direct ?? descriptor, at: offset, into: found, nothing)
            if direct == nil { dropCached(at: offset, count: found.count) }
            return count == found.count
        } catch {
            throw .readFailed(error)
        }
    }

    // MARK: Write-back

    /// Waits until a range that was written through the page cache is on the device.
    ///
    /// The kernel tells of a failed write-back once for each open file description, to whoever waits first, whatever the
    /// range: another's wait may be told of this frame's loss, and this one's of another's. It is sound all the same.
    /// Whoever waits on the description does so with `completion` locked, and who is told of a failure counts it before
    /// unlocking. Let the frame be lost at some time. That is after its write began, so after `failures` was read. The
    /// frame's own wait ends later, since it waits for these very pages. Of the waits that look for failures between the
    /// two the first is told. If that is the frame's own, it throws. If it is another, it came before in the order of the
    /// lock, so it has counted, and after `failures` was read: the counts differ. In both cases the frame is not trusted.
    /// A frame may be given up for another's failure; that costs a retry.
    ///
    /// - Parameter failures: how many had been counted before the range was written.
    /// - Throws: the system's error; `EIO` when another wait was told of a failure meanwhile.
    private func confirm(_ range: WritebackWindow.Range, since failures: Int) throws(SpillFailure) {
        let failure = completion.withLock { _ in
            if let failure = awaitWriteback(range) { return failure as Errno? }
            return failedCompletions.load(ordering: .sequentiallyConsistent) == failures ? nil : .ioError
        }
        if let failure { throw .writeFailed(failure) }
    }

    /// Waits for a range; what the file had to say. Call with `completion` locked.
    private func awaitWriteback(_ range: WritebackWindow.Range) -> Errno? {
        do {
            try fileSystem.finishWriteback(descriptor, at: range.lower, count: range.count)
            return nil
        } catch {
            failedCompletions.wrappingAdd(1, ordering: .sequentiallyConsistent)
            return error
        }
    }

    /// Performs what the write-back window asks for. What fails is noted for ``takeLateFailure()``: frames that were
    /// trusted may be gone.
    func perform(_ steps: WritebackWindow.Steps, isDraining: Bool = false) {
        var failure: Errno?
        if let range = steps.start {
            do {
                try fileSystem.startWriteback(descriptor, at: range.lower, count: range.count)
            } catch {
                failure = error
            }
        }
        if let range = steps.finish {
            failure = completion.withLock { _ in awaitWriteback(range) } ?? failure
            if failure == nil { doubt.store(false, ordering: .relaxed) }
            state.withLock { $0.window.finished(steps) }
            finishes.withLock { $0 &+= 1 }
        }
        if let failure {
            state.withLock { $0.usage.writebackFailures += 1 }
            doubt.store(true, ordering: .relaxed)
            lateErrno.store(failure.rawValue, ordering: .relaxed)
        }
        if !isDraining { keepWritebackShort() }
    }

    /// Waits while more is on its way to the device than is to be: for what nobody waits for yet, or for others who do.
    /// So the bytes under way are bounded over all threads, by the limit on memory and not by how many write.
    private func keepWritebackShort() {
        while true {
            let count = finishes.withLock { $0 }
            let (isOver, steps) = state.withLock { state -> (Bool, WritebackWindow.Steps?) in
                guard state.window.isOver else { return (false, nil) }
                return (true, state.window.hasOpen ? state.window.drain() : nil)
            }
            guard isOver else { return }
            if let steps {
                perform(steps, isDraining: true)
            } else {
                // All of it is being waited for by others, each of whom counts when it is done.
                finishes.wait { $0 != count ? () : nil }
            }
        }
    }

    /// Whether write-back has failed and nothing has reached the device since, as far as is known: that the system takes
    /// a write says nothing for the disk then.
    package var isDoubtful: Bool { doubt.load(ordering: .relaxed) }

    /// Why a frame that had been taken did not come to the device, if that has happened since this was last asked.
    /// Allocates nothing.
    package func takeLateFailure() -> SpillFailure? {
        guard lateErrno.load(ordering: .relaxed) != 0 else { return nil }
        let number = lateErrno.exchange(0, ordering: .relaxed)
        return number == 0 ? nil : .writebackFailed(Errno(rawValue: number))
    }

    /// So many bytes more were read that the page cache keeps. Where a limit counts them they are dropped, but not one by one:
    /// that has every processor interrupted, and whoever drops waits for all of them.
    func noteCached(_ count: Int) {
        guard limits.bypassPageCache, !isInMemory,
            cachedBytes.wrappingAdd(count, ordering: .relaxed).newValue >= Self.mostCached,
            cachedBytes.exchange(0, ordering: .relaxed) >= Self.mostCached
        else { return }
        dropCached(at: 0, count: 0)
    }

    /// How much of what was read the page cache keeps at most, where a limit counts it.
    static let mostCached = 1 << 20

    /// Drops what was read from the page cache where a limit counts that. For whole units; 0 of them are all up to the end.
    func dropCached(at offset: Int64, count: Int) {
        guard limits.bypassPageCache, !isInMemory else { return }
        // One that cannot be dropped is the kernel's to reclaim.
        try? fileSystem.dropCached(descriptor, at: offset, count: Int64(count))
    }
}
