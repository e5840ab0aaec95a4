import CLinuxShims
import Glibc
package import SystemPackage

/// The kernel's file system. Every call is documented where `FileSystem` declares it.
package struct LinuxFileSystem: FileSystem {
    /// The file system of this process.
    package init() {}

    package func openNameless(in directory: String) throws(Errno) -> CInt {
        try retrying { unsafe pk_open_nameless(directory) }
    }

    package func openExclusive(_ path: String) throws(Errno) -> CInt {
        try retrying { unsafe pk_open_exclusive(path) }
    }

    package func openDirect(_ descriptor: CInt) throws(Errno) -> CInt {
        try retrying { pk_open_direct(descriptor) }
    }

    package func expectRandomReads(_ descriptor: CInt) { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM) }

    package func unlink(_ path: String) throws(Errno) {
        try retrying { unsafe Glibc.unlink(path) }
    }

    package func close(_ descriptor: CInt) {
        // Linux releases the descriptor even when close(2) is interrupted: never repeat it.
        _ = Glibc.close(descriptor)
    }

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try unsafe read(descriptor, at: offset, isUncached: false, into: first, second)
    }

    package func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try unsafe read(descriptor, at: offset, isUncached: true, into: first, second)
    }

    private func read(
        _ descriptor: CInt,
        at offset: Int64,
        isUncached: Bool,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // The kernel writes at most the lengths given, into buffers the caller holds for the call.
        let count = try retrying {
            unsafe pk_read_two(
                descriptor,
                offset,
                isUncached,
                first.baseAddress,
                first.count,
                second.baseAddress,
                second.count
            )
        }
        return Int(count)
    }

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        // As in `read`, the other way round.
        let count = try retrying {
            unsafe pk_write_two(descriptor, offset, first.baseAddress, first.count, second.baseAddress, second.count)
        }
        return Int(count)
    }

    package func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try retrying { ftruncate(descriptor, off_t(size)) }
    }

    package func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try retrying { pk_punch_hole(descriptor, offset, count) }
    }

    package func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try retrying { pk_start_writeback(descriptor, offset, count) }
    }

    package func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try retrying { pk_finish_writeback(descriptor, offset, count) }
    }

    package func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try retrying { pk_drop_cached(descriptor, offset, count) }
    }

    package func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 {
        var available: UInt64 = 0
        var total: UInt64 = 0
        try retrying { unsafe pk_free_space(descriptor, &available, &total) }
        return available
    }

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        var usage = FileUsage(size: 0, allocated: 0)
        try retrying { unsafe pk_file_usage(descriptor, &usage.size, &usage.allocated) }
        return usage
    }

    package func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts {
        var information = stat()
        try retrying { unsafe lstat(path, &information) }
        let isLink = information.st_mode & S_IFMT == S_IFLNK
        let linkOwner = isLink ? information.st_uid : nil
        try retrying { unsafe stat(path, &information) }
        var facts = DirectoryFacts(
            isDirectory: information.st_mode & S_IFMT == S_IFDIR,
            owner: information.st_uid,
            permissions: information.st_mode & 0o7777,
            magic: 0,
            device: nil,
            linkOwner: linkOwner
        )
        guard facts.isDirectory else { return facts }
        let descriptor = try retrying { unsafe pk_open_directory(path) }
        defer { close(descriptor) }
        var magic: Int64 = 0
        try retrying { unsafe pk_file_system_magic(descriptor, &magic) }
        facts.magic = UInt32(truncatingIfNeeded: magic)
        facts.device = blockDevice(below: descriptor)
        return facts
    }

    package var maximumFileSize: Int64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return Int64(clamping: limit.rlim_cur)
    }

    package var effectiveUser: UInt32 { geteuid() }

    /// The name that `/sys/dev/block/MAJOR:MINOR` links to; `nil` for file systems without a device of their own
    /// (overlayfs, btrfs, network) and where sysfs is hidden.
    private func blockDevice(below descriptor: CInt) -> String? {
        var major: UInt32 = 0
        var minor: UInt32 = 0
        guard unsafe pk_device_of(descriptor, &major, &minor) == 0 else { return nil }
        guard let link = unsafe realpath("/sys/dev/block/\(major):\(minor)", nil) else { return nil }
        // realpath(3) gave a C string from malloc that is ours to free.
        defer { unsafe free(link) }
        return unsafe String(cString: link).split(separator: "/").last.map(String.init)
    }
}

/// Calls until the call is not interrupted; a result below zero becomes the error number it left.
@discardableResult
private func retrying<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let error = Errno(rawValue: errno)
        if error != .interrupted { throw error }
    }
}
