import CLinuxShims
import Glibc
package import SystemPackage

/// Files and directories with names, for saved states.
extension LinuxFileSystem: NamedFileSystem {
    package func makeDirectory(_ path: String) throws(Errno) {
        try repeating { unsafe mkdir(path, 0o700) }
    }

    package func names(in directory: String) throws(Errno) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw Errno(rawValue: errno) }
        // Opened above; nobody else has it.
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            // The end is not an error, and only errno tells them apart.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw Errno(rawValue: errno) }
                return names
            }
            // readdir(3) gives a name that ends with a zero, valid until the next call.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    package func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt {
        try repeating { unsafe pk_open_named(path, creates) }
    }

    package func lock(_ descriptor: CInt) throws(Errno) {
        try repeating { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    package func unlock(_ descriptor: CInt) { _ = flock(descriptor, LOCK_UN) }

    package func rename(_ path: String, to newPath: String) throws(Errno) {
        try repeating { unsafe Glibc.rename(path, newPath) }
    }

    package func synchronize(_ descriptor: CInt) throws(Errno) {
        try repeating { fsync(descriptor) }
    }

    package func synchronizeDirectory(_ path: String) throws(Errno) {
        let descriptor = try repeating { unsafe pk_open_directory(path) }
        defer { close(descriptor) }
        try synchronize(descriptor)
    }
}

/// Calls until the call is not interrupted; a result below zero becomes the error number it left.
@discardableResult
private func repeating(_ call: () -> CInt) throws(Errno) -> CInt {
    while true {
        let result = call()
        if result >= 0 { return result }
        let error = Errno(rawValue: errno)
        if error != .interrupted { throw error }
    }
}
