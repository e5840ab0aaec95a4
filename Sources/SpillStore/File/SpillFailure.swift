package import SystemPackage

/// Why a chunk could not be written or read. Trivial, so that throwing it under pressure allocates nothing;
/// ``PressureError`` says the same in words, off the path.
package enum SpillFailure: Error, Hashable, Sendable {
    /// The configured cap of the spill file is reached, or the process's file-size limit.
    case limitReached
    /// The file system has less free space than the configured floor.
    case floorReached
    /// This process is a child, made by fork(2), of the one that made the spill file, and shares it: a write would
    /// destroy what the parent has there.
    case parentsFile
    /// The system refused a write; `ENOSPC` and `EDQUOT` among others.
    case writeFailed(Errno)
    /// A write that the system took did not come to the device, and what it wrote may be gone.
    case writebackFailed(Errno)
    /// It does not become smaller, so that a compressed copy in memory would free nothing.
    case notCompressible
    /// The server may evict what it is given, and nobody can make the value again.
    case mayBeEvicted
    /// The value did not pass its bytes, or not as many as it said: it cannot be encoded now.
    case valueNotPassed
    /// Memory was needed sooner than it could be written, and it can be made again.
    case abandoned
    /// A write that claimed success cannot be read back as it was.
    case notWritten
    /// The system refused a read.
    case readFailed(Errno)
    /// The frame was read but is not what was written.
    case damaged(FrameDamage)

    /// Whether it says something about the value and nothing about the disk.
    package var concernsValueOnly: Bool {
        [.valueNotPassed, .notCompressible, .mayBeEvicted, .abandoned].contains(self)
    }

    /// Whether the disk, a quota, the cap or the floor is the reason: space must be freed before a retry can succeed.
    package var isDiskFull: Bool {
        switch self {
        case .limitReached, .floorReached: true
        case .writeFailed(let errno), .writebackFailed(let errno):
            [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(errno)
        case .parentsFile, .notCompressible, .mayBeEvicted, .valueNotPassed, .abandoned, .notWritten, .readFailed,
            .damaged:
            false
        }
    }
}
