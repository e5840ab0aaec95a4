package import SystemPackage

/// The few file-system calls a spill file needs: the seam where tests count, fail and falsify them.
///
/// One method is one system call. A read or write may move fewer bytes than asked, as the system's may: the loops that
/// finish the work live above the seam, in `FileSystem+Loops.swift`, so that a fault injected here exercises them.
/// Interrupted calls (EINTR) are repeated below the seam. Every method blocks, allocates nothing unless it says so,
/// and may be called from any thread.
package protocol FileSystem: Sendable {
    /// Opens a read-write file that never had a name (`O_TMPFILE`), readable by this user only.
    ///
    /// - Throws: `EOPNOTSUPP`, `EISDIR` or `ENOENT` where the file system or kernel has no such files.
    func openNameless(in directory: String) throws(Errno) -> CInt

    /// Creates and opens a read-write file that did not exist, readable by this user only.
    ///
    /// - Throws: `EEXIST` when the name is taken, by a symbolic link too.
    func openExclusive(_ path: String) throws(Errno) -> CInt

    /// Opens the file of an open descriptor once more, to write and read it past the page cache (`O_DIRECT`). Offsets,
    /// lengths and addresses are multiples of the device's blocks then; whole pages always are.
    ///
    /// - Throws: `EINVAL` or `EOPNOTSUPP` where the file system has no such thing, which may also show only at the first
    ///   write; `ENOENT` where there is no `/proc`.
    func openDirect(_ descriptor: CInt) throws(Errno) -> CInt

    /// Says that what is read of an open file through the page cache is read in no order (`POSIX_FADV_RANDOM`): the kernel
    /// reads no more than it is asked for. A hint: where it is not taken, nothing follows.
    func expectRandomReads(_ descriptor: CInt)

    /// Removes a name.
    func unlink(_ path: String) throws(Errno)

    /// Gives a descriptor back. Failures are of no use to anyone here: nothing in a spill file must survive.
    func close(_ descriptor: CInt)

    /// Reads at `offset` into `first`, then on into `second` (`preadv(2)`): the number of bytes read, 0 at the end of
    /// the file. Either buffer may be empty.
    func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int

    /// The same, and what had to be brought into the page cache for it leaves it at once (`RWF_DONTCACHE`, since Linux 6.14).
    ///
    /// - Throws: `EOPNOTSUPP` where the kernel or the file system has no such read.
    func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int

    /// Writes `first`, then `second`, at `offset` (`pwritev(2)`): the number of bytes written. Either may be empty.
    func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int

    /// Sets the size of a file.
    func truncate(_ descriptor: CInt, to size: Int64) throws(Errno)

    /// Gives the blocks of a range back without changing the file's size; the range reads as zeros afterwards.
    func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno)

    /// Asks the kernel to start writing a range to the device; does not wait for it.
    func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno)

    /// Waits until a range is on the device, then drops it from the page cache. A count of 0 goes to the end of the file.
    ///
    /// - Throws: what write-back of the file came to since it was last asked, of whatever range: the kernel tells of a
    ///   failure once for each open file description.
    func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno)

    /// Drops what is clean of a range from the page cache; does not wait for what is not. A count of 0 goes to the end of the
    /// file.
    ///
    /// The kernel may have every processor of the machine give up the pages that it holds back, and waits for that
    /// (`lru_add_drain_all` in mm/swap.c): nothing for each of many short reads.
    func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno)

    /// Bytes that an unprivileged user may still write to the file system of an open file.
    func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64

    /// Size and blocks of an open file.
    func usage(_ descriptor: CInt) throws(Errno) -> FileUsage

    /// What there is to know about a directory before spilling to it. May allocate.
    func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts

    /// The largest file this process may write (RLIMIT_FSIZE), or `Int64.max`. A write past it is not an error but a
    /// signal (SIGXFSZ) that ends the process, so the spill file must stay below it.
    var maximumFileSize: Int64 { get }

    /// The effective user of this process.
    var effectiveUser: UInt32 { get }

    /// What a message calls the server that the bytes are on; `nil` where they are on this machine.
    var server: String? { get }

    /// Whether what was written stays until it is given back. A server may be one that evicts. Does not block.
    var keepsEverything: Bool { get }
}

extension FileSystem {
    package var server: String? { nil }

    package var keepsEverything: Bool { true }

    package func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        throw .notSupported
    }
}

/// The two sizes of a file.
package struct FileUsage: Hashable, Sendable {
    /// Bytes to the end of the file, holes included.
    package var size: UInt64
    /// Bytes of the blocks it occupies (`st_blocks` × 512).
    package var allocated: UInt64

    /// Creates a pair of sizes.
    package init(size: UInt64, allocated: UInt64) {
        self.size = size
        self.allocated = allocated
    }
}

/// What decides whether a directory is fit to spill to.
package struct DirectoryFacts: Hashable, Sendable {
    /// Whether the path is a directory at all.
    package var isDirectory: Bool
    /// Its owner's user number.
    package var owner: UInt32
    /// Its permission bits, the sticky bit (0o1000) included.
    package var permissions: UInt32
    /// `f_type` of its file system, as in statfs(2).
    package var magic: UInt32
    /// The kernel's name of the block device below it, such as `"vda1"` or `"zram0"`; `nil` when there is none.
    package var device: String?
    /// Who made the symbolic link that the path is; `nil` when it is none.
    package var linkOwner: UInt32?

    /// Creates a description of a directory.
    package init(
        isDirectory: Bool,
        owner: UInt32,
        permissions: UInt32,
        magic: UInt32,
        device: String?,
        linkOwner: UInt32? = nil
    ) {
        self.isDirectory = isDirectory
        self.owner = owner
        self.permissions = permissions
        self.magic = magic
        self.device = device
        self.linkOwner = linkOwner
    }

    /// Why a path that leads here is not followed, as the end of a sentence: whoever made the link chose the place.
    package func linkObjection(user: UInt32) -> String? {
        guard let linkOwner, linkOwner != user, linkOwner != 0 else { return nil }
        return "is a symbolic link of another user (\(linkOwner))"
    }
}
