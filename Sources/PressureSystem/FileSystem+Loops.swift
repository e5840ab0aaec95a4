package import SystemPackage

extension FileSystem {
    /// Reads until both buffers are full or the file ends: the number of bytes read. Allocates nothing.
    ///
    /// - Parameter isUncached: whether by ``readUncached(_:at:into:_:)``.
    package func readFully(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer,
        isUncached: Bool = false
    ) throws(Errno) -> Int {
        let wanted = first.count + second.count
        var done = 0
        while done < wanted {
            // Both slices stay inside the caller's buffers: `done` never exceeds their total.
            let head = unsafe UnsafeMutableRawBufferPointer(rebasing: first[min(done, first.count)...])
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: second[max(0, done - first.count)...])
            let place = offset + Int64(done)
            let count =
                isUncached
                ? unsafe try readUncached(descriptor, at: place, into: head, rest)
                : unsafe try read(descriptor, at: place, into: head, rest)
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all of both buffers. Allocates nothing.
    ///
    /// - Throws: the system's error; `ENOSPC` when it takes no more bytes without saying why.
    package func writeFully(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) {
        let wanted = first.count + second.count
        var done = 0
        while done < wanted {
            // As in `readFully`.
            let count = unsafe try write(
                descriptor,
                at: offset + Int64(done),
                from: UnsafeRawBufferPointer(rebasing: first[min(done, first.count)...]),
                UnsafeRawBufferPointer(rebasing: second[max(0, done - first.count)...])
            )
            if count == 0 { throw .noSpace }
            done += count
        }
    }

    /// Opens a file that has no name by the time this returns. Allocates.
    ///
    /// Where the file system has no nameless files (EOPNOTSUPP; EISDIR and ENOENT from kernels before 3.11, see
    /// open(2)) one is created under a name that must not exist and unlinked at once.
    package func openTemporary(in directory: String) throws(Errno) -> CInt {
        do {
            return try openNameless(in: directory)
        } catch Errno.notSupported, Errno.isDirectory, Errno.noSuchFileOrDirectory {
            return try openUnlinked(in: directory)
        }
    }

    /// The first name is this user's own and always the same: what a process left behind that was killed before it could
    /// remove the name, empty, goes when the next one comes. Two that are here at once take each other's name away, and
    /// both have their files.
    private func openUnlinked(in directory: String) throws(Errno) -> CInt {
        var attempts = 16
        var path = "\(directory)/.pressurekit-\(effectiveUser)"
        // There is none, or it is not ours to remove and another name has to do.
        try? unlink(path)
        while true {
            let descriptor: CInt
            do {
                descriptor = try openExclusive(path)
            } catch {
                attempts -= 1
                guard error == .fileExists, attempts > 0 else { throw error }
                path = "\(directory)/.pressurekit-\(String(UInt64.random(in: .min ... .max), radix: 36))"
                continue
            }
            do {
                try unlink(path)
            } catch {
                if error == .noSuchFileOrDirectory { return descriptor }
                // A file that keeps its name would outlive the process.
                close(descriptor)
                throw error
            }
            return descriptor
        }
    }
}
