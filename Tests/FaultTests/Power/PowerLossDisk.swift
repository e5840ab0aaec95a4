import PressureKitTesting
import SystemPackage

@testable import PressureKit

/// A disk that knows what would be left of its named files if the power failed now.
///
/// The worst that POSIX and the journals of ext4, XFS and btrfs allow: of a file only what was synchronised is sure; the
/// rest may be there, or not, or as zeros, or in part. Of the changes to names since their directory was synchronised any
/// number of the first may have happened; a directory's own name is one of the names in its parent.
final class PowerLossDisk: NamedFileSystem {
    /// The change of a name.
    private enum Change {
        case link(String, Int)
        case unlink(String)
        case rename(String, String)
        case makeDirectory(String)

        /// The directory whose names change.
        var directory: String {
            switch self {
            case .link(let path, _), .unlink(let path), .rename(let path, _), .makeDirectory(let path): parent(of: path)
            }
        }
    }

    /// The names that there are.
    private struct Names {
        var files: [String: Int] = [:]
        var directories: Set<String> = ["/var/tmp", "/dev/shm"]

        mutating func apply(_ change: Change) {
            switch change {
            case .link(let path, let file): files[path] = file
            case .unlink(let path): files[path] = nil
            case .rename(let path, let newPath): files[newPath] = files.removeValue(forKey: path)
            case .makeDirectory(let path): directories.insert(path)
            }
        }

        /// The file that is found by a path.
        subscript(path: String) -> Int? { directories.contains(parent(of: path)) ? files[path] : nil }
    }

    private struct State {
        /// The file behind each descriptor, by a number of its own.
        var files: [CInt: Int] = [:]
        var names = Names()
        var nextFile = 0
        /// What is sure.
        var sureNames = Names()
        var sureBytes: [Int: [UInt8]] = [:]
        /// What is not yet.
        var changes: [Change] = []
        var bytes: [Int: [UInt8]] = [:]
    }

    private let base = InMemoryFileSystem()
    private let state = Lock(State())
    /// Whether synchronising does what it says.
    private let isHonest: Bool
    /// Called before each call that changes anything that lasts.
    private let beforeChange = Lock<(@Sendable () -> Void)?>(nil)

    init(isHonest: Bool = true) { self.isHonest = isHonest }

    func onChange(_ body: (@Sendable () -> Void)?) { beforeChange.withLock { $0 = body } }

    /// All that a file of this name could hold after a loss of power now; `nil` where there would be no such file.
    func possibleContents(named path: String) -> [[UInt8]?] {
        state.withLock { state in
            var names = state.sureNames
            var possible: [[UInt8]?] = []
            for count in 0...state.changes.count {
                if count > 0 { names.apply(state.changes[count - 1]) }
                guard let file = names[path] else {
                    possible.append(nil)
                    continue
                }
                let (sure, all) = (state.sureBytes[file] ?? [], state.bytes[file] ?? [])
                possible.append(sure)
                guard sure != all else { continue }
                possible.append(all)
                possible.append([UInt8](repeating: 0, count: all.count))
                possible.append(
                    Array(all.prefix(all.count / 2)) + [UInt8](repeating: 0, count: all.count - all.count / 2)
                )
            }
            return possible
        }
    }

    private func change<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        beforeChange.withLock { $0 }?()
        return try body()
    }

    private func note(_ change: Change) {
        state.withLock { state in
            state.changes.append(change)
            state.names.apply(change)
        }
    }

    private func keep(_ descriptor: CInt) {
        let bytes = base.contents(descriptor)
        state.withLock { state in
            if let file = state.files[descriptor] { state.bytes[file] = bytes }
        }
    }

    /// Gives an open file the number of the one of its name, or a new one.
    private func open(_ path: String, _ descriptor: CInt) -> CInt {
        let isNew = state.withLock { state in
            let known = state.names.files[path]
            state.files[descriptor] = known ?? state.nextFile
            if known == nil { state.nextFile += 1 }
            return known == nil
        }
        if isNew, let file = state.withLock({ $0.files[descriptor] }) { note(.link(path, file)) }
        return descriptor
    }
}

extension PowerLossDisk {
    func openNameless(in directory: String) throws(Errno) -> CInt { try base.openNameless(in: directory) }

    func openExclusive(_ path: String) throws(Errno) -> CInt {
        try change { () throws(Errno) in open(path, try base.openExclusive(path)) }
    }

    func openNamed(_ path: String, creates: Bool) throws(Errno) -> CInt {
        open(path, try base.openNamed(path, creates: creates))
    }

    func unlink(_ path: String) throws(Errno) {
        try change { () throws(Errno) in try base.unlink(path) }
        note(.unlink(path))
    }

    func rename(_ path: String, to newPath: String) throws(Errno) {
        try change { () throws(Errno) in try base.rename(path, to: newPath) }
        note(.rename(path, newPath))
    }

    func synchronize(_ descriptor: CInt) throws(Errno) {
        try change { () throws(Errno) in try base.synchronize(descriptor) }
        guard isHonest else { return }
        state.withLock { state in
            if let file = state.files[descriptor] { state.sureBytes[file] = state.bytes[file] }
        }
    }

    func synchronizeDirectory(_ path: String) throws(Errno) {
        try change { () throws(Errno) in try base.synchronizeDirectory(path) }
        state.withLock { state in
            for change in state.changes where change.directory == path { state.sureNames.apply(change) }
            state.changes.removeAll { $0.directory == path }
        }
    }

    func write(
        _ descriptor: CInt,
        at offset: Int64,
        from first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) throws(Errno) -> Int {
        defer { keep(descriptor) }
        // The caller's buffers, handed on.
        return try change { () throws(Errno) in
            try unsafe base.write(descriptor, at: offset, from: first, second)
        }
    }

    func truncate(_ descriptor: CInt, to size: Int64) throws(Errno) {
        defer { keep(descriptor) }
        try change { () throws(Errno) in try base.truncate(descriptor, to: size) }
    }

    func punchHole(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        defer { keep(descriptor) }
        try base.punchHole(descriptor, at: offset, count: count)
    }

    // MARK: What changes nothing

    func close(_ descriptor: CInt) {
        state.withLock { _ = $0.files.removeValue(forKey: descriptor) }
        base.close(descriptor)
    }

    func read(
        _ descriptor: CInt,
        at offset: Int64,
        into first: UnsafeMutableRawBufferPointer,
        _ second: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        // The caller's buffers, handed on.
        try unsafe base.read(descriptor, at: offset, into: first, second)
    }

    func startWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try base.startWriteback(descriptor, at: offset, count: count)
    }

    func finishWriteback(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try base.finishWriteback(descriptor, at: offset, count: count)
    }

    func expectRandomReads(_ descriptor: CInt) { base.expectRandomReads(descriptor) }

    func dropCached(_ descriptor: CInt, at offset: Int64, count: Int64) throws(Errno) {
        try base.dropCached(descriptor, at: offset, count: count)
    }

    /// Not for this one's tests, which are about files with names: those are written through the page cache.
    func openDirect(_ descriptor: CInt) throws(Errno) -> CInt { throw .notSupported }

    func freeSpace(_ descriptor: CInt) throws(Errno) -> UInt64 { try base.freeSpace(descriptor) }

    func usage(_ descriptor: CInt) throws(Errno) -> FileUsage { try base.usage(descriptor) }

    func directoryFacts(_ path: String) throws(Errno) -> DirectoryFacts { try base.directoryFacts(path) }

    var maximumFileSize: Int64 { base.maximumFileSize }

    var effectiveUser: UInt32 { base.effectiveUser }

    func names(in directory: String) throws(Errno) -> [String] { try base.names(in: directory) }

    func makeDirectory(_ path: String) throws(Errno) {
        try change { () throws(Errno) in try base.makeDirectory(path) }
        note(.makeDirectory(path))
    }

    func lock(_ descriptor: CInt) throws(Errno) { try base.lock(descriptor) }

    func unlock(_ descriptor: CInt) { base.unlock(descriptor) }
}

private func parent(of path: String) -> String { path.split(separator: "/").dropLast().map { "/\($0)" }.joined() }
