package import SystemPackage

/// What a saved state needs beyond what a spill file does: files that have names and outlive the process.
package protocol NamedFileSystem: FileSystem {
    /// Makes a directory for this user alone (0700).
    ///
    /// - Throws: `EEXIST` when the name is taken.
    func makeDirectory(_ path: String) throws(Errno)

    /// The names in a directory, in no order. Allocates.
    func names(in directory: String) throws(Errno) -> [String]

    /// Opens a file by name for reading and writing, never through a symbolic link; made for this user alone if it does
    /// not exist and `creates` says so.
    ///
    /// - Throws: `ENOENT` when it does not exist.
    func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt

    /// Takes an exclusive lock on an open file (`flock(2)`), without waiting; closing the file ends it, unless
    /// a child of the process has inherited it.
    ///
    /// - Throws: `EWOULDBLOCK` when somebody has it.
    func lock(_ descriptor: CInt) throws(Errno)

    /// Ends the lock, whoever else has the file open.
    func unlock(_ descriptor: CInt)

    /// Gives a file another name, in place of the file that had it, in one step.
    func rename(_ path: String, to newPath: String) throws(Errno)

    /// Waits until a file is on the device, its size included.
    func synchronize(_ descriptor: CInt) throws(Errno)

    /// Waits until the names in a directory are on the device.
    func synchronizeDirectory(_ path: String) throws(Errno)
}
