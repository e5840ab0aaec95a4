import PressureKit
package import SystemPackage

extension FaultyFileSystem: NamedFileSystem {
    package func makeDirectory(_ path: String) throws(Errno) {
        try fail(.makeDirectory)
        try base.makeDirectory(path)
    }

    package func names(in directory: String) throws(Errno) -> [String] {
        try fail(.inspect)
        return try base.names(in: directory)
    }

    package func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt {
        try fail(.open)
        return try base.openNamed(path, creates: creates)
    }

    package func lock(_ descriptor: CInt) throws(Errno) {
        try fail(.lock)
        try base.lock(descriptor)
    }

    package func unlock(_ descriptor: CInt) { base.unlock(descriptor) }

    package func rename(_ path: String, to newPath: String) throws(Errno) {
        try fail(.rename)
        try base.rename(path, to: newPath)
    }

    package func synchronize(_ descriptor: CInt) throws(Errno) {
        try fail(.synchronize)
        try base.synchronize(descriptor)
    }

    package func synchronizeDirectory(_ path: String) throws(Errno) {
        try fail(.synchronize)
        try base.synchronizeDirectory(path)
    }
}
