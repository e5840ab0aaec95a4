package import PressureSystem
import SystemPackage

/// The directory spill files are made in, chosen once and checked.
package struct SpillDirectory: Hashable, Sendable {
    /// Who named a directory.
    package enum Origin: Hashable, Sendable {
        /// The configuration.
        case option
        /// The TMPDIR environment variable.
        case environment
        /// Nobody: `/var/tmp`, the place for large temporary files that outlive a restart (hier(7)).
        case fallback
    }

    /// The directory.
    package let path: String
    /// Who named it.
    package let origin: Origin
    /// Whether its bytes are memory too, so that spilling there frees nothing; only ever when that was allowed.
    package let isMemoryBacked: Bool

    /// The environment variable that names one.
    package static let variable = "TMPDIR"

    /// Chooses the option, else `$TMPDIR`, else `/var/tmp`. Blocks; allocates.
    ///
    /// A RAM-backed `$TMPDIR` is passed over for a disk-backed `/var/tmp`, since it was set with small files in mind.
    /// An option is never passed over: it is used, or it is an error.
    ///
    /// - Throws: ``PressureError`` with code `spillDirectoryUnusable` when the directory is missing, not ours or not
    ///   writable, `spillDirectoryInMemory` when it is RAM-backed and `allowsRAM` is false.
    package static func choose(
        option: String?,
        environment: [String: String],
        fileSystem: any FileSystem,
        allowsRAM: Bool
    ) throws(PressureError) -> SpillDirectory {
        if let option { return try examine(option, .option, fileSystem, allowsRAM) }
        guard let path = environment[Self.variable], !path.isEmpty else {
            return try examine("/var/tmp", .fallback, fileSystem, allowsRAM)
        }
        do {
            return try examine(path, .environment, fileSystem, allowsRAM)
        } catch {
            guard error.code == .spillDirectoryInMemory,
                let disk = try? examine("/var/tmp", .fallback, fileSystem, false)
            else { throw error }
            return disk
        }
    }

    private static func examine(
        _ path: String,
        _ origin: Origin,
        _ fileSystem: any FileSystem,
        _ allowsRAM: Bool
    ) throws(PressureError) -> SpillDirectory {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .spillDirectoryUnusable(path, origin, "is not a path")
        }
        let facts: DirectoryFacts
        do {
            facts = try fileSystem.directoryFacts(path)
        } catch {
            throw .spillDirectoryUnusable(path, origin, "cannot be examined: \(error)", errno: error)
        }
        let isNameless = facts.isOpen && makesNameless(path, fileSystem)
        if let objection = facts.objection(user: fileSystem.effectiveUser, isNameless: isNameless) {
            throw .spillDirectoryUnusable(path, origin, objection)
        }
        if let medium = facts.memoryMedium, !allowsRAM {
            throw .spillDirectoryInMemory(path, origin, medium)
        }
        do {
            // The only proof that a file can be made is making one.
            fileSystem.close(try fileSystem.openTemporary(in: path))
        } catch {
            throw .spillDirectoryUnusable(path, origin, "takes no file: \(error)", errno: error)
        }
        return SpillDirectory(path: path, origin: origin, isMemoryBacked: facts.memoryMedium != nil)
    }
}

extension SpillDirectory {
    /// A server in place of a directory: there is none to look at.
    package init(server: String) { self.init(path: server, origin: .option, isMemoryBacked: false) }

    /// Whether files without a name can be made there.
    private static func makesNameless(_ path: String, _ fileSystem: any FileSystem) -> Bool {
        guard let descriptor = try? fileSystem.openNameless(in: path) else { return false }
        fileSystem.close(descriptor)
        return true
    }
}

extension DirectoryFacts {
    /// Whether everybody may write there and take away what others have put there.
    fileprivate var isOpen: Bool { permissions & 0o1002 == 0o002 }

    /// Why nothing should be written here, as the end of a sentence; `nil` when there is no reason.
    ///
    /// The directory is to be this user's or root's, or shared the way `/tmp` is: with the sticky bit, which keeps
    /// others from renaming what is not theirs; or open to everybody, as the mount point of a Kubernetes emptyDir is, as
    /// long as what is put there has no name that anybody could take hold of.
    package func objection(user: UInt32, isNameless: Bool = false) -> String? {
        if let objection = linkObjection(user: user) { return objection }
        let isSticky = permissions & 0o1000 != 0
        if !isDirectory { return "is not a directory" }
        if isOpen, !isNameless {
            return "is writable by everyone, has no sticky bit, and takes no file without a name"
        }
        if owner != user, owner != 0, !isSticky { return "belongs to another user (\(owner))" }
        return nil
    }

    /// The kind of memory these bytes live in, or `nil` for a disk as far as can be seen. What lies below overlayfs or
    /// a device mapper cannot be.
    var memoryMedium: String? {
        // Magic numbers from statfs(2) and linux/magic.h.
        switch magic {
        case 0x0102_1994: "tmpfs"
        case 0x8584_58F6: "ramfs"
        case 0x9584_58F6: "hugetlbfs"
        default: device?.hasPrefix("zram") == true ? "zram" : nil
        }
    }
}
