import CAllocationCounter
import PressureSystem
import Synchronization
import SystemPackage

@testable import PressureKitTesting

/// The disk of a process: fails as it is told to, takes time, and counts what it allocates itself.
final class SeedDisk: NamedFileSystem {
    let faulty: FaultyFileSystem
    let base: InMemoryFileSystem
    private let allocated = Atomic<Int>(0)
    /// What a read or a write takes, in microseconds, and whose time that is.
    let latency = Atomic<Int>(0)
    let clock = Lock<ManualClock?>(nil)

    /// What it is called, if it stands for a server.
    let server: String?

    init(_ base: InMemoryFileSystem, server: String? = nil) {
        self.base = base
        self.server = server
        faulty = FaultyFileSystem(wrapping: base)
    }

    /// Heap allocations in calls so far, on whichever thread.
    var allocations: Int { allocated.load(ordering: .relaxed) }

    private func call<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        let before = pk_thread_allocations()
        defer { allocated.wrappingAdd(Int(pk_thread_allocations() - before), ordering: .relaxed) }
        return try body()
    }

    private func slowly() {
        let micros = latency.load(ordering: .relaxed)
        if micros > 0 { clock.withLock { $0 }?.advance(by: .microseconds(micros)) }
    }

    func openNameless(in directory: String) throws(Errno) -> CInt {
        try call { () throws(Errno) in try faulty.openNameless(in: directory) }
    }
    func openExclusive(_ path: String) throws(Errno) -> CInt {
        try call { () throws(Errno) in try faulty.openExclusive(path) }
    }
    func openDirect(_ descriptor: CInt) throws(Errno) -> CInt {
        try call { () throws(Errno) in try faulty.openDirect(descriptor) }
    }
    func unlink(_ path: String) throws(Errno) { try call { () throws(Errno) in try faulty.unlink(path) } }
    func close(_ descriptor: CInt) { faulty.close(descriptor) }

    func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        slowly()
        // The buffers are the caller's, here and below.
        return try call { () throws(Errno) in try unsafe faulty.read(descriptor, at: offset, into: first, second) }
    }

    func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        slowly()
        return try call { () throws(Errno) in try unsafe faulty.write(descriptor, at: offset, from: first, second) }
    }

    func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try call { () throws(Errno) in try faulty.truncate(descriptor, to: size) }
    }
    func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try call { () throws(Errno) in try faulty.punchHole(descriptor, at: offset, count: count) }
    }
    func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try call { () throws(Errno) in try faulty.startWriteback(descriptor, at: offset, count: count) }
    }
    func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try call { () throws(Errno) in try faulty.finishWriteback(descriptor, at: offset, count: count) }
    }
    func expectRandomReads(_ descriptor: CInt) {}

    func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try call { () throws(Errno) in try faulty.dropCached(descriptor, at: offset, count: count) }
    }
    func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 {
        try call { () throws(Errno) in try faulty.freeSpace(descriptor) }
    }
    /// These two past the rules: several threads ask at any time, and would move a rule on to another call.
    func usage(_ descriptor: CInt) throws(Errno) -> FileUsage {
        try call { () throws(Errno) in try base.usage(descriptor) }
    }
    func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts { try base.directoryFacts(path) }
    var maximumFileSize: Int64 { faulty.maximumFileSize }
    var effectiveUser: UInt32 { faulty.effectiveUser }

    func makeDirectory(_ path: String) throws(Errno) { try faulty.makeDirectory(path) }
    /// In order: a set of names has none, and what is done goes by it.
    func names(in directory: String) throws(Errno) -> [String] { try faulty.names(in: directory).sorted() }
    func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt {
        try faulty.openNamed(path, creates: creates)
    }
    func lock(_ descriptor: CInt) throws(Errno) { try faulty.lock(descriptor) }
    func unlock(_ descriptor: CInt) { faulty.unlock(descriptor) }
    func rename(_ path: String, to newPath: String) throws(Errno) { try faulty.rename(path, to: newPath) }
    func synchronize(_ descriptor: CInt) throws(Errno) { try faulty.synchronize(descriptor) }
    func synchronizeDirectory(_ path: String) throws(Errno) { try faulty.synchronizeDirectory(path) }
}
