import CTestShims
import Glibc
import PressureKitTestSupport
import Testing

@testable import PressureSignals
@testable import PressureSystem

@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardFileTests {
    /// A directory that stands for a cgroup, and one for boards; removed with it.
    private final class Place: Sendable {
        let path: String
        let cgroup: String
        init() {
            var template = Array("/tmp/pressurekit-board-test-XXXXXX".utf8CString)
            unsafe mkdtemp(&template)
            path = unsafe String(cString: template)
            cgroup = path + "/cgroup"
            unsafe mkdir(cgroup, 0o755)
            unsafe mkdir(path + "/shm", 0o755)
        }

        deinit {
            for name in boards { _ = unsafe unlink("\(shm)/\(name)") }
            _ = unsafe rmdir(shm)
            _ = unsafe rmdir(cgroup)
            _ = unsafe rmdir(path)
        }

        var shm: String { path + "/shm" }
        var boards: [String] { (try? LinuxFileSystem().names(in: shm)) ?? [] }
        func join() throws(BoardFile.Refusal) -> BoardFile { try BoardFile(of: cgroup, in: [path + "/none", shm]) }
    }

    private func slots(_ board: BoardFile) -> [Int: BoardSlot] {
        var slots: [Int: BoardSlot] = [:]
        let isRead = board.read { _, slot in
            for place in 0..<BoardLayout.slots { slots[place] = BoardSlot(slot(place)) }
        }
        #expect(isRead)
        return slots
    }

    private func mine(_ owner: UInt64) -> BoardSlot {
        var slot = BoardSlot()
        slot.owner = owner
        slot.held = 5
        return slot
    }

    @Test func processesMeetAndTheLastOneRemovesTheFile() throws {
        let place = Place()
        var first: BoardFile? = try place.join()
        var second: BoardFile? = try place.join()
        #expect(place.boards.count == 1)
        #expect(first!.place != second!.place)
        first!.write(mine(1).words)
        second!.write(mine(2).words)
        #expect(slots(first!) == slots(second!))
        #expect(slots(first!).values.map(\.owner).sorted() == [1, 2])
        #expect(first!.isHeld(second!.place))
        let left = second!.place
        second = nil
        #expect(slots(first!).values.map(\.owner) == [1])
        #expect(!first!.isHeld(left))
        first = nil
        #expect(place.boards.isEmpty)
    }

    @Test func onlyAFileOfThisUsersAloneIsABoard() throws {
        let place = Place()
        var board: BoardFile? = try place.join()
        let name = "\(place.shm)/\(place.boards[0])"
        board = nil
        withExtendedLifetime(board) {}
        // What others may write to.
        let open = unsafe open(name, O_CREAT | O_RDWR, 0o600)
        fchmod(open, 0o666)
        #expect(throws: BoardFile.Refusal.unusable(EEXIST)) { _ = try place.join() }
        fchmod(open, 0o600)
        // What is no board.
        _ = unsafe write(open, Array(repeating: UInt8(7), count: 9000), 9000)
        #expect(throws: BoardFile.Refusal.foreign) { _ = try place.join() }
        // What its maker did not get to write.
        ftruncate(open, 0)
        #expect(throws: Never.self) { _ = try place.join() }
        close(open)
        _ = unsafe unlink(name)
        unsafe symlink("/etc/passwd", name)
        #expect(throws: BoardFile.Refusal.unusable(ELOOP)) { _ = try place.join() }
    }

    /// A partner that breaks the file breaks nobody: reads fail or show nothing, and nothing is mapped that could vanish.
    @Test func aFileThatSomebodyBreaksHarmsNobody() throws {
        let place = Place()
        let board = try place.join()
        let name = "\(place.shm)/\(place.boards[0])"
        unsafe truncate(name, 100)
        let isWhole = board.read { _, _ in }
        #expect(!isWhole)
        unsafe truncate(name, 0)
        board.write(mine(3).words)
        unsafe truncate(name, off_t(BoardLayout.size))
        var shortage: BoardShortage? = BoardShortage()
        let isRead = board.read { header, _ in shortage = BoardShortage(header) }
        #expect(isRead && shortage == nil)
    }

    @Test func whenAllSlotsAreTakenOthersDoWithout() throws {
        let place = Place()
        let boards = try (0..<BoardLayout.slots).map { _ in try place.join() }
        #expect(Set(boards.map(\.place)).count == BoardLayout.slots)
        #expect(throws: BoardFile.Refusal.full) { _ = try place.join() }
    }

    @Test func aProcessThatIsKilledLeavesAFreeSlotAndNoFileForLong() throws {
        let place = Place()
        let (reader, writer) = makePipe()
        let child = pk_fork()
        if child == 0 {
            guard let board = try? place.join() else { _exit(1) }
            board.write(mine(9).words)
            _ = unsafe write(writer, "x", 1)
            while true { pause() }
        }
        var byte: UInt8 = 0
        _ = unsafe read(reader, &byte, 1)
        let board = try place.join()
        let theirs = try #require(slots(board).first { $0.value.owner == 9 }).key
        #expect(board.isHeld(theirs))
        kill(child, SIGKILL)
        unsafe waitpid(child, nil, 0)
        #expect(!board.isHeld(theirs))
        // The next one gets it, without what stood there.
        let next = try place.join()
        #expect(next.place == theirs)
        #expect(slots(next).isEmpty)
        for descriptor in [reader, writer] { close(descriptor) }
    }

    @Test func boardsOfTheKilledAreRemovedByTheNext() throws {
        let place = Place()
        let child = pk_fork()
        if child == 0 {
            let other = place.path + "/other"
            unsafe mkdir(other, 0o755)
            // Never released.
            _ = try? Unmanaged.passRetained(BoardFile(of: other, in: [place.shm]))
            unsafe rmdir(other)
            kill(getpid(), SIGKILL)
        }
        unsafe waitpid(child, nil, 0)
        #expect(place.boards.count == 1)
        let board = try place.join()
        #expect(place.boards.count == 1, "that of the one who was killed is gone")
        withExtendedLifetime(board) {}
    }

    /// A child that runs no manager keeps neither the slot nor the file.
    @Test func aChildKeepsNothingOfItsParents() throws {
        let place = Place()
        let board = try place.join()
        let owned = board.place
        let (reader, writer) = makePipe()
        let (askReader, askWriter) = makePipe()
        var holder: BoardFile? = board
        let child = pk_fork()
        if child == 0 {
            // Its memory has the object still; nothing may come of it.
            holder?.write(mine(77).words)
            holder?.ring()
            holder = nil
            _ = unsafe write(writer, "x", 1)
            var byte: UInt8 = 0
            _ = unsafe read(askReader, &byte, 1)
            _exit(0)
        }
        var byte: UInt8 = 0
        _ = unsafe read(reader, &byte, 1)
        #expect(place.boards.count == 1, "the child has not removed it")
        let other = try place.join()
        #expect(other.isHeld(owned))
        #expect(slots(other).isEmpty)
        holder = nil
        withExtendedLifetime(holder) {}
        for descriptor in [reader, writer, askReader, askWriter] where descriptor != askWriter { close(descriptor) }
        _ = unsafe write(askWriter, "x", 1)
        close(askWriter)
        unsafe waitpid(child, nil, 0)
    }

    @Test func whoWatchesIsRungAndNotByWrites() throws {
        let place = Place()
        let (first, second) = (try place.join(), try place.join())
        let bell = first.watch()
        #expect(bell >= 0)
        func hasRung() -> Bool {
            var item = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&item, 1, 0) == 1
        }
        second.write(mine(4).words)
        second.write(header: BoardShortage().words)
        #expect(!hasRung())
        second.ring()
        #expect(hasRung())
        close(bell)
    }

    private func makePipe() -> (CInt, CInt) {
        var ends: (CInt, CInt) = (-1, -1)
        unsafe withUnsafeMutableBytes(of: &ends) { _ = unsafe pipe($0.bindMemory(to: CInt.self).baseAddress!) }
        return ends
    }
}
