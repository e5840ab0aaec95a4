public import PressureKit
import Synchronization

/// A disk in memory: as small, as full or as damaged as a test needs it.
///
/// Behaves like the kernel's file systems where the library can tell: files are sparse, space is counted in pages of
/// 4 KiB, a write that finds room for a part writes that part, and one that finds none fails with ENOSPC. Safe from any
/// thread.
public final class InMemoryFileSystem: Sendable {
    struct State {
        var capacity: Int
        var maximumFileSize = Int64.max
        var supportsNameless = true
        var direct = DirectSupport.whole
        var hasUncachedReads = true
        /// Second descriptors, to go past a page cache that there is none of: whose each is.
        var directs: [CInt: CInt] = [:]
        var directories: [String: DirectoryFacts]
        var files: [CInt: SparseFile] = [:]
        var nextDescriptor: CInt = 1000
        /// Files with names that nobody has open.
        var closed: [String: SparseFile] = [:]
        /// Who holds the lock of a file, by its name.
        var locks: [String: CInt] = [:]

        var usedBytes: Int { files.values.reduce(0) { $0 + $1.usedBytes } }
    }

    /// What becomes of files that are opened to be written past the page cache.
    package enum DirectSupport: Sendable, CaseIterable {
        /// They can be.
        case whole
        /// They are opened, and no write is taken (EINVAL).
        case openOnly
        /// They cannot be opened (EINVAL).
        case none
    }

    let state: Lock<State>

    /// An empty disk with two directories: `/var/tmp`, on a disk called `vda1`, and `/dev/shm`, on tmpfs.
    public init(capacity: ByteCount = .gibibytes(1)) {
        let disk = DirectoryFacts(isDirectory: true, owner: 0, permissions: 0o1777, magic: 0xEF53, device: "vda1")
        let memory = DirectoryFacts(isDirectory: true, owner: 0, permissions: 0o1777, magic: 0x0102_1994, device: nil)
        state = Lock(State(capacity: capacity.bytes, directories: ["/var/tmp": disk, "/dev/shm": memory]))
    }

    /// The size of the disk. May be set below what is in use: the disk is full then.
    public var capacity: ByteCount {
        get { ByteCount(bytes: state.withLock { $0.capacity }) }
        set { state.withLock { $0.capacity = newValue.bytes } }
    }

    /// Bytes of all pages in use.
    public var usedBytes: ByteCount { ByteCount(bytes: state.withLock { $0.usedBytes }) }

    /// The number of files that are open. A file that is open a second time, past the page cache, counts once.
    public var openFiles: Int {
        state.withLock { state in state.files.count + state.directs.values.count { state.files[$0] == nil } }
    }

    /// The names in all directories. Empty as long as every file is nameless.
    public var names: [String] { state.withLock { $0.files.values.compactMap(\.name) } }

    /// Flips the lowest bit of every byte of every file: no copy on this disk is sound afterwards.
    public func damageEverything() {
        state.withLock { state in
            for descriptor in state.files.keys { state.files[descriptor]?.damage() }
        }
    }

    /// The descriptors that are open, in the order they were opened.
    package var descriptors: [CInt] { state.withLock { $0.files.keys.sorted() } }

    /// The bytes of an open file; holes read as zeros.
    package func contents(_ descriptor: CInt) -> [UInt8] { state.withLock { $0.files[descriptor]?.contents ?? [] } }

    /// Replaces bytes of an open file behind the library's back.
    package func overwrite(_ descriptor: CInt, at offset: Int, with bytes: [UInt8]) {
        state.withLock { state in
            // The span of the array is only used for the length of the call.
            _ = unsafe bytes.withUnsafeBytes { unsafe state.files[descriptor]?.write($0, at: offset, room: .max) }
        }
    }

    /// Whether nameless files exist here; without them opening one fails with EOPNOTSUPP.
    package func setSupportsNameless(_ isSupported: Bool) { state.withLock { $0.supportsNameless = isSupported } }

    /// Sets what comes of opening files to be written past the page cache.
    package func setDirectSupport(_ support: DirectSupport) { state.withLock { $0.direct = support } }

    /// Whether there are reads that leave nothing in a page cache; there are at first.
    package func setUncachedReads(_ isOn: Bool) { state.withLock { $0.hasUncachedReads = isOn } }

    /// Sets what RLIMIT_FSIZE would be.
    package func setMaximumFileSize(_ size: Int64) { state.withLock { $0.maximumFileSize = size } }

    /// Adds a directory, or changes what one is; `nil` removes it.
    package func setDirectory(_ path: String, _ facts: DirectoryFacts?) {
        state.withLock { $0.directories[path] = facts }
    }
}
