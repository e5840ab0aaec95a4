import PressureKit
package import SystemPackage

/// Files that have names keep their bytes when they are closed.
extension InMemoryFileSystem: NamedFileSystem {
    package func makeDirectory(_ path: String) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.directories[path] == nil else { throw .fileExists }
            guard state.directories[Self.directory(of: path)]?.isDirectory == true else {
                throw .noSuchFileOrDirectory
            }
            state.directories[path] = DirectoryFacts(
                isDirectory: true,
                owner: effectiveUser,
                permissions: 0o700,
                magic: 0xEF53,
                device: "vda1"
            )
        }
    }

    package func names(in directory: String) throws(Errno) -> [String] {
        try state.withLock { state throws(Errno) in
            guard state.directories[directory]?.isDirectory == true else { throw .noSuchFileOrDirectory }
            let paths = Set(state.files.values.compactMap(\.name)).union(state.closed.keys)
            return paths.filter { Self.directory(of: $0) == directory }.map {
                String($0.dropFirst(directory.count + 1))
            }
        }
    }

    package func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt {
        try state.withLock { state throws(Errno) in
            guard state.directories[Self.directory(of: path)]?.isDirectory == true else {
                throw .noSuchFileOrDirectory
            }
            if let open = state.files.values.first(where: { $0.name == path }) {
                // A second description of the same bytes; nothing writes to a file by two of them.
                state.nextDescriptor += 1
                var copy = open
                copy.name = nil
                copy.origin = path
                state.files[state.nextDescriptor] = copy
                return state.nextDescriptor
            }
            guard let file = state.closed.removeValue(forKey: path) ?? (creates ? SparseFile(name: path) : nil) else {
                throw .noSuchFileOrDirectory
            }
            state.nextDescriptor += 1
            state.files[state.nextDescriptor] = file
            return state.nextDescriptor
        }
    }

    package func lock(_ descriptor: CInt) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard let file = state.files[descriptor] else { throw .badFileDescriptor }
            guard let name = file.name ?? file.origin else { return }
            guard state.locks[name] == nil || state.locks[name] == descriptor else { throw .wouldBlock }
            state.locks[name] = descriptor
        }
    }

    package func unlock(_ descriptor: CInt) {
        state.withLock { state in
            for (name, holder) in state.locks where holder == descriptor { state.locks[name] = nil }
        }
    }

    package func rename(_ path: String, to newPath: String) throws(Errno) {
        try state.withLock { state throws(Errno) in
            let open = state.files.first { $0.value.name == path }?.key
            let closed = state.closed.removeValue(forKey: path)
            guard open != nil || closed != nil else { throw .noSuchFileOrDirectory }
            state.closed[newPath] = nil
            for (descriptor, file) in state.files where file.name == newPath { state.files[descriptor]?.name = nil }
            // A lock is the file's, whatever that is called.
            state.locks[newPath] = state.locks.removeValue(forKey: path)
            if let open { state.files[open]?.name = newPath }
            if var closed {
                closed.name = newPath
                state.closed[newPath] = closed
            }
        }
    }

    package func synchronize(_ descriptor: CInt) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.files[descriptor] != nil else { throw .badFileDescriptor }
        }
    }

    package func synchronizeDirectory(_ path: String) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.directories[path]?.isDirectory == true else { throw .noSuchFileOrDirectory }
        }
    }

    /// The process that had files open is gone: they are closed, and its locks with them. What had a name stays.
    package func endProcess() {
        state.withLock { state in
            state.directs = [:]
            for descriptor in Array(state.files.keys) { state.close(descriptor) }
        }
    }

    /// The bytes of a file with a name, open or not.
    package func contents(named path: String) -> [UInt8]? {
        state.withLock { state in
            (state.files.values.first { $0.name == path } ?? state.closed[path])?.contents
        }
    }

    /// Puts a file with these bytes under a name, in place of any other.
    package func setContents(_ bytes: [UInt8]?, named path: String) {
        state.withLock { state in
            for (descriptor, file) in state.files where file.name == path { state.files[descriptor]?.name = nil }
            state.locks[path] = nil
            guard let bytes else {
                state.closed[path] = nil
                return
            }
            var file = SparseFile(name: path)
            // The span of the array is only used for the length of the call.
            _ = unsafe bytes.withUnsafeBytes { unsafe file.write($0, at: 0, room: .max) }
            state.closed[path] = file
        }
    }

    private static func directory(of path: String) -> String {
        path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
    }
}

extension InMemoryFileSystem.State {
    /// Closes a file; one with a name is kept.
    mutating func close(_ descriptor: CInt) {
        if directs.removeValue(forKey: descriptor) != nil { return }
        for (name, holder) in locks where holder == descriptor { locks[name] = nil }
        guard let file = files.removeValue(forKey: descriptor), let name = file.name else { return }
        closed[name] = file
    }
}
