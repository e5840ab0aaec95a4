package import PressureSystem
import SystemPackage

extension PressureError {
    /// Memory for buffers or a codec could not be reserved.
    static func scratchUnavailable(byteCount: Int) -> PressureError {
        PressureError(
            code: .spillFailed,
            message: """
                No memory for \(ByteCount(bytes: byteCount)) of spill scratch. Create the manager while memory is \
                plentiful, or with fewer workers.
                """,
            errno: Errno.noMemory.rawValue
        )
    }

    /// There is no memory for what a restore needs: scratch, or the value itself.
    package static func noMemoryToRestore(byteCount: Int? = nil, errno: CInt? = Errno.noMemory.rawValue)
        -> PressureError
    {
        let what = byteCount.map { "a value of \(ByteCount(bytes: $0))" } ?? "the scratch of a restore"
        return PressureError(
            code: .restoreFailed,
            message: """
                No memory for \(what). The value is still in the spill file: read it again when there is more memory, or \
                raise the limits on address space (ulimit -v) and mappings (vm.max_map_count).
                """,
            errno: errno
        )
    }

    /// A copy has bytes that are not whole elements of the array that is to be made of them.
    package static func notWholeElements(byteCount: Int, stride: Int) -> PressureError {
        PressureError(
            code: .damagedCopy,
            message: """
                The copy has \(byteCount) bytes, which are not whole elements of \(stride) bytes each: it was written \
                with another layout of the element. Set the value again, or have a loader make it.
                """
        )
    }

    /// A value that is to be made again gave too little room for its bytes.
    package static func tooLittleRoom(_ type: Any.Type, given: Int, byteCount: Int) -> PressureError {
        PressureError(
            code: .restoreFailed,
            message: """
                \(type) gave room for \(given) bytes where its copy has \(byteCount). Have \
                init(spillByteCount:restoringWith:) pass storage of at least spillByteCount bytes.
                """
        )
    }

    /// The spill file could not be made.
    static func spillFileNotOpened(directory: String, errno: Errno) -> PressureError {
        let remedy =
            switch errno {
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "Raise the limit on open files (ulimit -n)."
            case .noSpace, .diskQuotaExceeded: "Free space there, or set another spill directory."
            default: "Set a spill directory that this user may write to."
            }
        return PressureError(
            code: .spillDirectoryUnusable,
            message: "No spill file in \(directory): \(errno). \(remedy)",
            errno: errno.rawValue
        )
    }

    /// A directory cannot be spilled to.
    static func spillDirectoryUnusable(
        _ path: String,
        _ origin: SpillDirectory.Origin,
        _ reason: String,
        errno: Errno? = nil
    ) -> PressureError {
        PressureError(
            code: .spillDirectoryUnusable,
            message: """
                The spill directory \(path) \(reason). \(origin.remedy) a directory on a disk that this user may write \
                to and others may not tamper with, such as /var/tmp.
                """,
            errno: errno?.rawValue
        )
    }

    /// A directory is memory itself.
    static func spillDirectoryInMemory(
        _ path: String,
        _ origin: SpillDirectory.Origin,
        _ medium: String
    ) -> PressureError {
        PressureError(
            code: .spillDirectoryInMemory,
            message: """
                The spill directory \(path) is in memory (\(medium)): spilling there frees nothing. \(origin.remedy) a \
                directory on a disk, such as /var/tmp, or set allowsMemoryBackedSpill if compression alone is worth it.
                """
        )
    }
}

extension SpillDirectory.Origin {
    /// The beginning of the sentence that says what to set instead.
    fileprivate var remedy: String {
        switch self {
        case .option: "Set spillDirectory to"
        case .environment: "Set TMPDIR, or spillDirectory, to"
        case .fallback: "Set spillDirectory to"
        }
    }
}

extension SpillFailure {
    /// The same failure in words, with its remedy, for the cache at `path`. Allocates: not for the reclaim path.
    ///
    /// - Parameters:
    ///   - server: what the server is called that the bytes are on; `nil` if they are on this machine.
    ///   - isReloadable: whether a loader makes the value that could not be read.
    package func pressureError(
        path: String? = nil,
        server: String? = nil,
        isReloadable: Bool = false
    ) -> PressureError {
        let remote = server.flatMap { message(of: $0, isReloadable) }
        return PressureError(code: code, message: remote ?? message(isReloadable), path: path, errno: errno?.rawValue)
    }

    private var code: PressureError.Code {
        switch self {
        case .limitReached, .floorReached: .diskFull
        case .writeFailed: isDiskFull ? .diskFull : .spillFailed
        case .writebackFailed, .parentsFile, .notWritten, .valueNotPassed, .notCompressible, .mayBeEvicted, .abandoned:
            .spillFailed
        case .readFailed: .restoreFailed
        case .damaged: .damagedCopy
        }
    }

    private var errno: Errno? {
        switch self {
        case .writeFailed(let errno), .writebackFailed(let errno), .readFailed(let errno): errno
        case .limitReached, .floorReached, .parentsFile, .notCompressible, .mayBeEvicted, .valueNotPassed, .abandoned,
            .notWritten,
            .damaged:
            nil
        }
    }

    private func message(_ isReloadable: Bool) -> String {
        switch self {
        case .limitReached:
            "The spill file has reached its limit. Raise spillLimit, or the process's file-size limit (ulimit -f)."
        case .floorReached:
            "The spill disk is down to its free-space floor. Free space there, lower freeSpaceFloor, or spill elsewhere."
        case .parentsFile:
            """
            The spill file belongs to the process that this one was forked from. The value is still in memory; create a \
            manager after fork, or execute a program.
            """
        case .writeFailed(let errno):
            isDiskFull
                ? "The spill file cannot grow: \(errno). Free space on its disk, or set another spill directory."
                : "Writing the spill file failed: \(errno). The value is still in memory; check the disk."
        case .writebackFailed(let errno):
            """
            The spill disk failed after it had taken a write: \(errno). Values that a loader makes may have lost their \
            copies and are loaded again; no others have. Check the disk, or set another spill directory.
            """
        case .notCompressible:
            "The value does not become smaller by compressing, so it stays in memory as it is. Give it a disk to go to."
        case .mayBeEvicted:
            """
            What the value is to be written to may give it up when it is full, and nobody can make it again: it stays in \
            memory. Have it keep what it is given (on Redis and Valkey, maxmemory-policy noeviction), or give the cache a \
            loader.
            """
        case .valueNotPassed:
            """
            The value did not pass the bytes it said it has. It is still in memory; check its conformance to Spillable, \
            and that a Codable one can be encoded.
            """
        case .abandoned:
            "A copy was not written to its end, because memory was needed sooner. The value is still in memory."
        case .notWritten:
            "A spilled copy does not read back as it was written. The value is still in memory; check the disk."
        case .readFailed(let errno):
            "Reading the spill file failed: \(errno). Check the disk; \(isReloadable ? Self.isMade : "the copy is kept.")"
        case .damaged(let damage):
            "A spilled copy is damaged (\(damage)). Check the disk; \(isReloadable ? Self.isMade : "set the value again.")"
        }
    }

    static let isMade = "the cache's loader makes the value again."
}
