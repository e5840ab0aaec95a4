package import SystemPackage

/// File systems without names: no state can be saved there.
extension FileSystem {
    package func makeDirectory(_ path: String) throws(Errno) { throw .notSupported }

    package func names(in directory: String) throws(Errno) -> [String] { throw .notSupported }

    package func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt { throw .notSupported }

    package func lock(_ descriptor: CInt) throws(Errno) { throw .notSupported }

    package func unlock(_ descriptor: CInt) {}

    package func rename(_ path: String, to newPath: String) throws(Errno) { throw .notSupported }

    package func synchronize(_ descriptor: CInt) throws(Errno) { throw .notSupported }

    package func synchronizeDirectory(_ path: String) throws(Errno) { throw .notSupported }
}
