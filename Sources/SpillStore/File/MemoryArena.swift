import CLinuxShims
import Glibc
import PressureSystem
import SystemPackage

/// A file that is memory: what the segment file of the compressed tier lives in.
///
/// So that values compressed in memory are placed, framed, checked and counted by the code that does it on disk. Pages
/// are taken when they are first written and given back as holes are punched, so the tier costs what it holds.
@safe
final class MemoryArena: FileSystem, @unchecked Sendable {
    // Sendable and safe: the reservation lives as long as the arena; ranges are checked, and the segment file hands out
    // ranges that do not overlap.
    private let base: UnsafeMutableRawPointer
    private let capacity: Int

    /// Reserves address space for `capacity` bytes, and no memory.
    ///
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no address space.
    init(capacity: ByteCount) throws(PressureError) {
        let rounded = (max(capacity.bytes, 1) + 4095) & ~4095
        guard let base = unsafe pk_reserve_pages(rounded) else { throw .scratchUnavailable(byteCount: rounded) }
        unsafe self.base = base
        self.capacity = rounded
    }

    // Reserved in `init` with this length.
    deinit { unsafe _ = pk_unmap_pages(base, capacity) }

    /// The part of a range that the arena has.
    private func part(at offset: Int64, count: Int64) throws(Errno) -> UnsafeMutableRawBufferPointer {
        guard offset >= 0, count >= 0 else { throw .invalidArgument }
        let start = Int(min(offset, Int64(capacity)))
        // Within the reservation by the line above.
        return unsafe UnsafeMutableRawBufferPointer(start: base + start, count: min(Int(count), capacity - start))
    }

    func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        let found = try unsafe part(at: offset, count: Int64(first.count + second.count))
        let split = min(first.count, found.count)
        // Both copies stay within their buffers, which do not overlap the arena.
        unsafe first.copyMemory(from: UnsafeRawBufferPointer(rebasing: found[..<split]))
        unsafe second.copyMemory(from: UnsafeRawBufferPointer(rebasing: found[split...]))
        return found.count
    }

    func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        let room = try unsafe part(at: offset, count: Int64(first.count + second.count))
        guard room.count == first.count + second.count else { throw .noSpace }
        // As in `read`.
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<first.count]).copyMemory(from: first)
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[first.count...]).copyMemory(from: second)
        return room.count
    }

    func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        let range = try unsafe part(at: offset, count: count)
        guard unsafe !range.isEmpty else { return }
        // Whole pages of the reservation, which read as zeros afterwards.
        guard unsafe pk_drop_pages(range.baseAddress, range.count) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Cutting the end off gives its pages back; the reservation stays.
    func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        try punchHole(descriptor, at: size, count: .max)
    }

    func openNameless(in directory: String) throws(Errno) -> CInt { 0 }

    func openExclusive(_ path: String) throws(Errno) -> CInt { throw .notSupported }

    /// What is written here is where it stays: nothing lies between.
    func openDirect(_ descriptor: CInt) throws(Errno) -> CInt { throw .notSupported }

    func unlink(_ path: String) throws(Errno) {}

    func close(_ descriptor: CInt) {}

    func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    func expectRandomReads(_ descriptor: CInt) {}

    func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {}

    func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 { UInt64(capacity) }

    func usage(_ descriptor: CInt) throws(Errno) -> FileUsage { throw .notSupported }

    func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts { throw .notSupported }

    var maximumFileSize: Int64 { Int64(capacity) }

    var effectiveUser: UInt32 { geteuid() }
}
