package import PressureKit
import Synchronization
package import SystemPackage

extension InMemoryFileSystem: FileSystem {
    package func openNameless(in directory: String) throws(Errno) -> CInt {
        try state.withLock { state throws(Errno) in
            guard state.directories[directory]?.isDirectory == true else { throw .noSuchFileOrDirectory }
            guard state.supportsNameless else { throw .notSupported }
            return state.open(SparseFile())
        }
    }

    package func openExclusive(_ path: String) throws(Errno) -> CInt {
        try state.withLock { state throws(Errno) in
            let directory = path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
            guard state.directories[directory]?.isDirectory == true else { throw .noSuchFileOrDirectory }
            guard state.closed[path] == nil, !state.files.values.contains(where: { $0.name == path }) else {
                throw .fileExists
            }
            return state.open(SparseFile(name: path))
        }
    }

    package func openDirect(_ descriptor: CInt) throws(Errno) -> CInt {
        try state.withLock { state throws(Errno) in
            guard state.files[descriptor] != nil else { throw .badFileDescriptor }
            guard state.direct != .none else { throw .invalidArgument }
            state.nextDescriptor += 1
            state.directs[state.nextDescriptor] = descriptor
            return state.nextDescriptor
        }
    }

    package func unlink(_ path: String) throws(Errno) {
        try state.withLock { state throws(Errno) in
            // Who has the lock keeps it, and no other finds it.
            state.locks[path] = nil
            if state.closed.removeValue(forKey: path) != nil { return }
            guard let found = state.files.first(where: { $0.value.name == path }) else {
                throw .noSuchFileOrDirectory
            }
            state.files[found.key]?.name = nil
        }
    }

    package func close(_ descriptor: CInt) { state.withLock { $0.close(descriptor) } }

    package func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try unsafe checkDirect(descriptor, offset, UnsafeRawBufferPointer(first), UnsafeRawBufferPointer(second))
        return try with(descriptor) { _, file in
            // The file copies at most as many bytes as each buffer holds.
            let count = unsafe file.read(at: Int(offset), into: first)
            guard count == first.count else { return count }
            return unsafe count + file.read(at: Int(offset) + count, into: second)
        }
    }

    /// There is no page cache.
    package func readUncached(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        guard state.withLock({ $0.hasUncachedReads }) else { throw .notSupported }
        // The caller's buffers, passed on.
        return try unsafe read(descriptor, at: offset, into: first, second)
    }

    package func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        try unsafe checkDirect(descriptor, offset, first, second)
        let count = try with(descriptor) { freePages, file in
            // The file copies as many bytes as each buffer holds, or fewer.
            let before = file.usedBytes
            let count = unsafe file.write(first, at: Int(offset), room: freePages)
            guard count == first.count else { return count }
            let room = freePages - (file.usedBytes - before) / SparseFile.pageSize
            return unsafe count + file.write(second, at: Int(offset) + count, room: room)
        }
        if count == 0, first.count + second.count > 0 { throw .noSpace }
        return count
    }

    package func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try with(descriptor) { $1.truncate(to: Int(size)) }
    }

    package func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try with(descriptor) { $1.punch(Int(offset)..<Int(offset + count)) }
    }

    package func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try with(descriptor) { _, _ in }
    }

    package func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try with(descriptor) { _, _ in }
    }

    package func expectRandomReads(_ descriptor: CInt) {}

    package func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try with(descriptor) { _, _ in }
    }

    package func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 {
        try with(descriptor) { freePages, _ in UInt64(freePages * SparseFile.pageSize) }
    }

    package func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        try with(descriptor) { FileUsage(size: UInt64($1.size), allocated: UInt64($1.usedBytes)) }
    }

    package func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts {
        try state.withLock { state throws(Errno) in
            guard let facts = state.directories[path] else { throw .noSuchFileOrDirectory }
            return facts
        }
    }

    package var maximumFileSize: Int64 { state.withLock { $0.maximumFileSize } }

    package var effectiveUser: UInt32 { 1000 }

    /// Refuses what a device with sectors of 512 bytes refuses past the page cache.
    private func checkDirect(
        _ descriptor: CInt,
        _ offset: Int64,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard state.directs[descriptor] != nil else { return }
            var places = [Int(offset)]
            if unsafe !first.isEmpty { places += [first.count, Int(bitPattern: first.baseAddress)] }
            if unsafe !second.isEmpty { places += [second.count, Int(bitPattern: second.baseAddress)] }
            guard state.direct == .whole, places.allSatisfy({ $0 % 512 == 0 }) else { throw .invalidArgument }
        }
    }

    /// Calls `body` with the pages left on the disk and an open file.
    private func with<Result: Sendable>(
        _ descriptor: CInt,
        _ body: (Int, inout SparseFile) -> Result
    ) throws(Errno) -> Result {
        try state.withLock { state throws(Errno) in
            let descriptor = state.directs[descriptor] ?? descriptor
            let freePages = max(0, state.capacity - state.usedBytes) / SparseFile.pageSize
            guard var file = state.files.removeValue(forKey: descriptor) else { throw .badFileDescriptor }
            defer { state.files[descriptor] = file }
            return body(freePages, &file)
        }
    }
}

extension InMemoryFileSystem.State {
    fileprivate mutating func open(_ file: SparseFile) -> CInt {
        nextDescriptor += 1
        files[nextDescriptor] = file
        return nextDescriptor
    }
}
