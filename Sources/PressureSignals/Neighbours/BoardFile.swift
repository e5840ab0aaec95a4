import CLinuxShims
import Glibc
import PressureSystem

/// A board in a file that processes of one user share, with a slot in it that is this process's while it lives.
///
/// In `/dev/shm`, or where that is missing in `$XDG_RUNTIME_DIR` or `/tmp`; mode 0600, named after the user and the cgroup. It
/// is read and written by single calls, and not mapped: a file that somebody makes shorter would end each process that has it
/// mapped. Whoever leaves last removes it; the next process removes those of cgroups whose processes were all killed.
package final class BoardFile: BoardStore, Sendable {
    package let place: Int
    private let descriptor: CInt
    private let path: String
    private let process = ProcessMark()
    /// Held for a write: none ends in a slot that has become somebody else's.
    private let hasLeft = Lock(false)

    /// Why there is none.
    package enum Refusal: Error, Hashable, Sendable {
        /// No directory can be used, errno says of the last one why.
        case unusable(CInt)
        /// It is something else, or of another version.
        case foreign
        /// All slots are taken.
        case full
        /// Somebody has the header, for longer than it takes.
        case busy
    }

    /// Joins the board of a cgroup, making it if there is none. Waits some milliseconds at most.
    ///
    /// - Parameters:
    ///   - cgroup: Its directory.
    ///   - directories: Where to look, the best first.
    package init(of cgroup: String, in directories: [String]) throws(Refusal) {
        var (device, inode) = (UInt64(0), UInt64(0))
        // The string outlives the call, which writes the two numbers.
        guard unsafe pk_path_identity(cgroup, &device, &inode) == 0 else { throw .unusable(errno) }
        let name = "\(Self.prefix)\(geteuid())-\(String(device, radix: 16))-\(String(inode, radix: 16))"
        var refusal = Refusal.unusable(ENOENT)
        for directory in directories {
            do throws(Refusal) {
                (descriptor, place, path) = try Self.join("\(directory)/\(name)")
                Self.sweep(directory, but: name)
                return
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    deinit {
        // A child of fork(2) has closed it, and the number may be another file's.
        guard process.isThisProcess else { return }
        leave()
        pk_close_shared(descriptor)
    }

    /// How the names of boards begin.
    static let prefix = "pressurekit-board\(BoardLayout.version)-"
    private static let slotSize = Int64(BoardLayout.slotSize)

    // MARK: Joining and leaving

    private static func join(_ path: String) throws(Refusal) -> (CInt, Int, String) {
        // It may be removed between being opened and being locked, by whoever leaves it last.
        for _ in 0..<4 {
            let descriptor = unsafe pk_open_shared(path, true)
            guard descriptor >= 0 else { throw .unusable(errno) }
            do throws(Refusal) {
                guard hold(descriptor) else { throw .busy }
                if let place = try claim(descriptor) {
                    pk_close_in_children(descriptor)
                    release(descriptor)
                    return (descriptor, place, path)
                }
            } catch {
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
        throw .busy
    }

    /// Locks the header.
    private static func hold(_ descriptor: CInt) -> Bool {
        for _ in 0..<20 {
            if pk_hold_range(descriptor, 0, slotSize) == 0 { return true }
            var pause = timespec(tv_sec: 0, tv_nsec: 500_000)
            unsafe nanosleep(&pause, nil)
        }
        return false
    }

    private static func release(_ descriptor: CInt) { pk_release_range(descriptor, 0, slotSize) }

    /// Makes sure that the file is a board, with the header locked, and takes a slot; `nil` when it has no name any more.
    private static func claim(_ descriptor: CInt) throws(Refusal) -> Int? {
        guard let file = identity(descriptor) else { throw .unusable(errno) }
        guard file.links > 0 else { return nil }
        var header = BoardLayout.Words(repeating: 0)
        let isRead = read(descriptor, &header, at: 0)
        if !isRead || (0..<16).allSatisfy({ header[$0] == 0 }) {
            // New, or its maker was killed before he had written anything.
            guard file.size == 0 || file.size == Int64(BoardLayout.size) else { throw .foreign }
            guard ftruncate(descriptor, off_t(BoardLayout.size)) == 0 else { throw .unusable(errno) }
            guard write(descriptor, BoardShortage().words, at: 0) else { throw .unusable(errno) }
        } else if header[0] != BoardLayout.magic || header[1] != BoardLayout.version
            || file.size != Int64(BoardLayout.size)
        {
            throw .foreign
        }
        for place in 0..<BoardLayout.slots where pk_hold_range(descriptor, offset(place), slotSize) == 0 {
            // What was written by somebody who was killed.
            guard write(descriptor, BoardLayout.Words(repeating: 0), at: offset(place)) else { throw .unusable(errno) }
            return place
        }
        throw .full
    }

    /// Empties the slot, and removes the file if nobody else is there. Waits some milliseconds at most.
    package func leave() {
        // A child of fork(2) goes no further: somebody may have held the lock.
        guard process.isThisProcess else { return }
        let isFirst = hasLeft.withLock { hasLeft in
            defer { hasLeft = true }
            return !hasLeft
        }
        guard isFirst else { return }
        _ = Self.write(descriptor, BoardLayout.Words(repeating: 0), at: Self.offset(place))
        let isHeld = Self.hold(descriptor)
        // Before it is looked who else is there: of two who leave at once, the second one finds nobody.
        pk_release_range(descriptor, Self.offset(place), Self.slotSize)
        guard isHeld else { return }
        Self.removeIfEmpty(descriptor, path)
        Self.release(descriptor)
    }

    /// Removes a board on which nobody else has a slot. Its header is locked.
    private static func removeIfEmpty(_ descriptor: CInt, _ path: String) {
        let all = Int64(BoardLayout.size) - slotSize
        guard pk_is_range_held(descriptor, slotSize, all) == 0, let file = identity(descriptor) else { return }
        var (device, inode) = (UInt64(0), UInt64(0))
        guard unsafe pk_path_identity(path, &device, &inode) == 0, (device, inode) == (file.device, file.inode) else {
            return
        }
        _ = unsafe unlink(path)
    }

    /// Removes this user's boards on which nobody is.
    private static func sweep(_ directory: String, but own: String) {
        guard let names = try? LinuxFileSystem().names(in: directory) else { return }
        let prefix = "\(prefix)\(geteuid())-"
        for name in names.lazy.filter({ $0.hasPrefix(prefix) && $0 != own }).prefix(mostSwept) {
            let path = "\(directory)/\(name)"
            let descriptor = unsafe pk_open_shared(path, false)
            guard descriptor >= 0 else { continue }
            if pk_hold_range(descriptor, 0, slotSize) == 0 { removeIfEmpty(descriptor, path) }
            close(descriptor)
        }
    }

    private static let mostSwept = 64

    // MARK: Reading and writing

    package func read(
        slots: Int,
        _ body: (borrowing BoardLayout.Words, (Int) -> BoardLayout.Words) -> Void
    ) -> Bool {
        process.isThisProcess && Self.read(descriptor, slots: slots, body)
    }

    /// Reads a board that is open.
    static func read(
        _ descriptor: CInt,
        slots: Int = BoardLayout.slots,
        _ body: (borrowing BoardLayout.Words, (Int) -> BoardLayout.Words) -> Void
    ) -> Bool {
        var board = InlineArray<64, BoardLayout.Words>(repeating: BoardLayout.Words(repeating: 0))
        let size = (min(slots, BoardLayout.slots) + 1) * BoardLayout.slotSize
        let count = unsafe withUnsafeMutableBytes(of: &board) { bytes in
            // No more bytes than the array has.
            unsafe pread(descriptor, bytes.baseAddress, size, 0)
        }
        guard count == size else { return false }
        body(board[0]) { board[$0 + 1] }
        return true
    }

    package func write(_ slot: borrowing BoardLayout.Words) {
        guard process.isThisProcess else { return }
        let words = copy slot
        hasLeft.withLock { hasLeft in
            if !hasLeft { _ = Self.write(descriptor, words, at: Self.offset(place)) }
        }
    }

    package func write(header: borrowing BoardLayout.Words) {
        guard process.isThisProcess else { return }
        _ = Self.write(descriptor, header, at: 0)
    }

    package func isHeld(_ place: Int) -> Bool {
        guard process.isThisProcess else { return false }
        return place == self.place || Self.isHeld(descriptor, place)
    }

    /// Whether somebody else has a slot of a board that is open.
    static func isHeld(_ descriptor: CInt, _ place: Int) -> Bool {
        pk_is_range_held(descriptor, offset(place), slotSize) == 1
    }

    package func notify() {
        guard process.isThisProcess else { return }
        _ = pk_touch(descriptor)
    }

    /// A descriptor that has something to read when somebody notifies; -1 where there is none. Whose it is, who asks.
    func watch() -> CInt { pk_watch_touches(descriptor) }

    private static func offset(_ place: Int) -> Int64 { Int64(place + 1) * slotSize }

    private static func identity(_ descriptor: CInt) -> (device: UInt64, inode: UInt64, links: UInt64, size: Int64)? {
        var (device, inode, links, size) = (UInt64(0), UInt64(0), UInt64(0), Int64(0))
        // The call writes the four numbers.
        guard unsafe pk_identity(descriptor, &device, &inode, &links, &size) == 0 else { return nil }
        return (device, inode, links, size)
    }

    private static func read(_ descriptor: CInt, _ words: inout BoardLayout.Words, at offset: Int64) -> Bool {
        unsafe withUnsafeMutableBytes(of: &words) { bytes in
            unsafe pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count
        }
    }

    private static func write(_ descriptor: CInt, _ words: BoardLayout.Words, at offset: Int64) -> Bool {
        unsafe withUnsafeBytes(of: words) { bytes in
            unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count
        }
    }
}
