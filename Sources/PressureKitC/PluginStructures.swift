import CPressureKit
import Glibc
import PressureKit

/// Structures that begin with their size, as their owner knows it, and may grow at their ends.
enum PluginStructure {
    /// Structures larger than this are a mistake.
    private static let mostBytes = 4096

    /// A copy of one that is passed in.
    ///
    /// - Parameter empty: one of this version's that holds nothing.
    /// - Throws: ``PluginFailure`` when it is smaller than the first version's, or has members that are not known here.
    static func read<Structure>(_ source: UnsafePointer<Structure>, into empty: Structure) throws -> Structure {
        let known = MemoryLayout<Structure>.size
        // Every structure begins with its size.
        let size = unsafe UnsafeRawPointer(source).load(as: Int.self)
        guard (known...mostBytes).contains(size) else {
            throw PluginFailure.badArgument("The size of the structure is \(size); begin with its _INIT macro.")
        }
        // The caller vouches for so many bytes.
        let rest = unsafe UnsafeRawBufferPointer(start: source, count: size).dropFirst(known)
        guard unsafe rest.allSatisfy({ $0 == 0 }) else {
            throw PluginFailure.badArgument("The structure has members that this version of the library does not know.")
        }
        return unsafe source.pointee
    }

    /// Copies as much of a result as its owner has room for; the size stays what it is.
    ///
    /// - Throws: ``PluginFailure`` when there is no room for anything.
    static func write<Structure>(_ result: Structure, to target: UnsafeMutablePointer<Structure>) throws {
        let header = MemoryLayout<Int>.size
        // Every structure begins with its size.
        let size = unsafe UnsafeRawPointer(target).load(as: Int.self)
        guard (2 * header...mostBytes).contains(size) else {
            throw PluginFailure.badArgument("The size of the structure is \(size); begin with its _INIT macro.")
        }
        unsafe withUnsafeBytes(of: result) { bytes in
            let count = min(size, bytes.count) - header
            // Both have `count` bytes behind their sizes.
            unsafe UnsafeMutableRawPointer(target + 0).advanced(by: header)
                .copyMemory(from: bytes.baseAddress!.advanced(by: header), byteCount: count)
        }
    }

    /// The bytes of a value that is passed in.
    ///
    /// - Throws: ``PluginFailure`` when there are too many, or some and no address.
    static func bytes(_ bytes: UnsafeRawPointer?, _ count: Int) throws -> UnsafeRawBufferPointer {
        guard unsafe (bytes != nil || count == 0), (0...PluginCache.mostBytes).contains(count) else {
            throw PluginFailure.badArgument("bytes is NULL, or count is not between 0 and 2^40.")
        }
        // The caller vouches for so many bytes.
        return unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// A text of at most `limit` bytes.
    ///
    /// - Throws: ``PluginFailure`` when it is longer, or not UTF-8.
    static func text(_ source: UnsafePointer<CChar>, _ name: String, atMost limit: Int) throws -> String {
        // Looks no further than the first zero, or the limit.
        guard unsafe strnlen(source, limit + 1) <= limit else {
            throw PluginFailure.badArgument("\(name) is longer than \(limit) bytes.")
        }
        guard let text = unsafe String(validatingCString: source) else {
            throw PluginFailure.badArgument("\(name) is not UTF-8.")
        }
        return text
    }
}

extension PressureConfiguration {
    /// What a manager is created with, and whether it watches memory.
    ///
    /// - Throws: ``PluginFailure`` when the options are not as the header says.
    init(plugin options: UnsafePointer<pressurekit_options>?) throws {
        self.init()
        guard let options = unsafe options else { return }
        let read = unsafe try PluginStructure.read(options, into: pressurekit_options())
        let reserved = unsafe read.reserved
        guard reserved == (0, 0, 0, 0) else {
            throw PluginFailure.badArgument("A reserved member is not 0; begin with PRESSUREKIT_OPTIONS_INIT.")
        }
        let known = UInt32(PRESSUREKIT_NO_WATCH) | UInt32(PRESSUREKIT_ALLOW_MEMORY_SPILL)
        guard unsafe read.flags & ~known == 0 else {
            throw PluginFailure.badArgument("There are flags that this version of the library does not know.")
        }
        if let directory = unsafe read.spill_directory {
            spillDirectory = unsafe try PluginStructure.text(directory, "spill_directory", atMost: 4095)
        }
        if let path = unsafe read.control_socket {
            control = .path(unsafe try PluginStructure.text(path, "control_socket", atMost: 4095))
        }
        if unsafe read.spill_limit > 0 { spillLimit = .bytes(unsafe Int(clamping: read.spill_limit)) }
        if unsafe read.workers > 0 { workers = unsafe Int(read.workers) }
        allowsMemoryBackedSpill = unsafe read.flags & UInt32(PRESSUREKIT_ALLOW_MEMORY_SPILL) != 0
        if unsafe read.flags & UInt32(PRESSUREKIT_NO_WATCH) != 0 { sources = [] }
    }
}

extension pressurekit_report {
    init(_ report: EvictionReport) {
        self.init()
        claimed_bytes = UInt64(clamping: report.claimed.bytes)
        returned_bytes = Int64(clamping: report.returned.bytes)
        evicted = UInt64(clamping: report.evictedCount)
        skipped = UInt64(clamping: report.skipped.reduce(0) { $0 + $1.count })
        failures = UInt64(clamping: report.failures.count)
        let parts = report.duration.components
        nanoseconds = UInt64(clamping: parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}

extension pressurekit_statistics {
    init(_ snapshot: PressureSnapshot, isInBackground: Bool) {
        self.init()
        let level =
            switch snapshot.level {
            case .normal: PRESSUREKIT_NORMAL
            case .warning: PRESSUREKIT_WARNING
            case .critical: PRESSUREKIT_CRITICAL
            }
        self.level = Int32(level)
        in_background = isInBackground ? 1 : 0
        score = snapshot.score
        let tiers = snapshot.tiers
        available_bytes = UInt64(clamping: snapshot.available?.bytes ?? 0)
        limit_bytes = UInt64(clamping: snapshot.limit?.bytes ?? 0)
        resident_bytes = UInt64(clamping: tiers.resident.bytes)
        clean_bytes = UInt64(clamping: tiers.clean.bytes)
        compressed_bytes = UInt64(clamping: tiers.compressed.bytes)
        spilled_bytes = UInt64(clamping: tiers.spilled.bytes)
        spill_file_bytes = UInt64(clamping: snapshot.spillFile?.bytes ?? 0)
        let caches = snapshot.controllers.flatMap(\.caches)
        func sum(_ count: (PressureSnapshot.Cache) -> Int) -> UInt64 {
            UInt64(clamping: caches.reduce(0) { $0 + count($1) })
        }
        self.caches = UInt64(caches.count)
        loads = sum(\.loads)
        restores = sum(\.restores)
        evictions = sum(\.evictions)
        refaults = sum(\.refaults)
        failures = sum(\.failures)
    }
}
