import PressureKit
import SystemPackage

/// Every call is documented where `FileSystem` and `NamedFileSystem` declare it.
extension SimulatedDisk: NamedFileSystem {
    func openNameless(in directory: String) throws(Errno) -> CInt { try base.openNameless(in: directory) }

    func openExclusive(_ path: String) throws(Errno) -> CInt { try base.openExclusive(path) }

    func unlink(_ path: String) throws(Errno) { try base.unlink(path) }

    /// An imagined disk has none: what is written there is charged for when it is written.
    func openDirect(_ descriptor: CInt) throws(Errno) -> CInt {
        if isImagined { throw .notSupported }
        return try base.openDirect(descriptor)
    }

    func close(_ descriptor: CInt) {
        // Before the number can be another file's.
        forget(descriptor)
        base.close(descriptor)
    }

    func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // The caller's buffers, passed on.
        try timed(readingAt: offset) { () throws(Errno) in
            try unsafe base.read(descriptor, at: offset, into: first, second)
        }
    }

    func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // As in `read`. An imagined disk has no page cache, whatever the bytes lie on here.
        if isImagined { return try unsafe read(descriptor, at: offset, into: first, second) }
        return try timed(readingAt: offset) { () throws(Errno) in
            try unsafe base.readUncached(descriptor, at: offset, into: first, second)
        }
    }

    func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let (condition, start) = try beginWriting()
        // As in `read`.
        let done = try unsafe base.write(descriptor, at: offset, from: first, second)
        changeBlocks(descriptor) { $0.write(at: offset, count: done) }
        count(written: done)
        time.wait(condition.duration(writing: done), since: start)
        return done
    }

    func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try base.truncate(descriptor, to: size)
        changeBlocks(descriptor) { $0.truncate(to: size) }
    }

    func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        do {
            try base.punchHole(descriptor, at: offset, count: count)
        } catch {
            // An imagined disk can always punch; that this one cannot must not show.
            guard isImagined else { throw error }
        }
        changeBlocks(descriptor) { $0.punch(at: offset, count: count) }
    }

    func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        if !isImagined { try base.startWriteback(descriptor, at: offset, count: count) }
    }

    func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        // What is written has been charged when it was.
        if !isImagined { try base.finishWriteback(descriptor, at: offset, count: count) }
    }

    func expectRandomReads(_ descriptor: CInt) { if !isImagined { base.expectRandomReads(descriptor) } }

    func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        if !isImagined { try base.dropCached(descriptor, at: offset, count: count) }
    }

    func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 {
        if condition.isFull { return 0 }
        return isImagined ? UInt64(max(0, Self.imaginedSize - allocatedBytes)) : try base.freeSpace(descriptor)
    }

    func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        guard let blocks = blocks(descriptor) else {
            let usage = try base.usage(descriptor)
            // A new file on an imagined disk has no blocks yet; one that was there before is as long as it is.
            return isImagined ? FileUsage(size: usage.size, allocated: usage.size) : usage
        }
        return FileUsage(size: UInt64(blocks.size), allocated: UInt64(blocks.allocatedBytes))
    }

    func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts {
        var facts = try base.directoryFacts(path)
        if isImagined {
            // Ext4 on some disk, whatever the bytes lie on here (linux/magic.h).
            facts.magic = 0xEF53
            facts.device = nil
        }
        return facts
    }

    var maximumFileSize: Int64 { base.maximumFileSize }

    var effectiveUser: UInt32 { base.effectiveUser }

    // MARK: Saved states

    func makeDirectory(_ path: String) throws(Errno) { try base.makeDirectory(path) }

    func names(in directory: String) throws(Errno) -> [String] { try base.names(in: directory) }

    func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt { try base.openNamed(path, creates: creates) }

    func lock(_ descriptor: CInt) throws(Errno) { try base.lock(descriptor) }

    func unlock(_ descriptor: CInt) { base.unlock(descriptor) }

    func rename(_ path: String, to newPath: String) throws(Errno) { try base.rename(path, to: newPath) }

    func synchronize(_ descriptor: CInt) throws(Errno) {
        let start = time.now()
        if !isImagined { try base.synchronize(descriptor) }
        time.wait(condition.latency, since: start)
    }

    func synchronizeDirectory(_ path: String) throws(Errno) {
        if !isImagined { try base.synchronizeDirectory(path) }
    }
}
