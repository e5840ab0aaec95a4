#if !THREAD_SANITIZER  // Makes or weighs processes.
import CTestShims
import Glibc
import PressureKitTestSupport
import Testing

@testable import PressureSignals
@testable import PressureSystem

@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardFileTests {
    @Test func processesMeetAndTheLastOneRemovesTheFile() throws {
        let place = Place()
        var first: BoardFile? = try place.join()
        var second: BoardFile? = try place.join()
        #expect(place.boards.count == 1)
        #expect(first!.place != second!.place)
        first!.write(slot(of: 1).words)
        second!.write(slot(of: 2).words)
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

    /// Each has given its slot back when it looks who else is there, though nothing is closed yet.
    @Test func ofTwoWhoLeaveAtOnceTheSecondRemovesTheFile() throws {
        let place = Place()
        let (first, second) = (try place.join(), try place.join())
        first.leave()
        #expect(!second.isHeld(first.place) && place.boards.count == 1)
        first.write(slot(of: 1).words)
        #expect(slots(second).isEmpty)
        second.leave()
        #expect(place.boards.isEmpty)
        withExtendedLifetime((first, second)) {}
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
        let isWhole = board.read(slots: BoardLayout.slots) { _, _ in }
        #expect(!isWhole)
        unsafe truncate(name, 0)
        board.write(slot(of: 3).words)
        unsafe truncate(name, off_t(BoardLayout.size))
        var shortage: BoardShortage? = BoardShortage()
        let isRead = board.read(slots: 0) { header, _ in shortage = BoardShortage(header) }
        #expect(isRead && shortage == nil)
    }

    @Test func whenAllSlotsAreTakenOthersDoWithout() throws {
        let place = Place()
        let boards = try (0..<BoardLayout.slots).map { _ in try place.join() }
        #expect(Set(boards.map(\.place)).count == BoardLayout.slots)
        #expect(throws: BoardFile.Refusal.full) { _ = try place.join() }
        withExtendedLifetime(boards) {}
    }

    @Test func aProcessThatIsKilledLeavesAFreeSlotAndNoFileForLong() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let (reader, writer) = makePipe()
            let child = pk_fork()
            if child == 0 {
                guard let board = try? place.join() else { _exit(1) }
                board.write(slot(of: 9).words)
                _ = unsafe write(writer, "x", 1)
                while true { pause() }
            }
            var byte: UInt8 = 0
            _ = unsafe read(reader, &byte, 1)
            let board = try place.join()
            guard let theirs = slots(board).first(where: { $0.value.owner == 9 })?.key else { exit(1) }
            guard board.isHeld(theirs) else { exit(2) }
            kill(child, SIGKILL)
            _ = waitpid(child, nil, 0)
            guard !board.isHeld(theirs) else { exit(3) }
            // The next one gets it, without what stood there.
            let next = try place.join()
            guard next.place == theirs, slots(next).isEmpty else { exit(4) }
        }
    }

    @Test func boardsOfTheKilledAreRemovedByTheNext() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let child = pk_fork()
            if child == 0 {
                let other = place.path + "/other"
                _ = unsafe mkdir(other, 0o755)
                let board = try? BoardFile(of: other, in: [place.shm])
                _ = unsafe rmdir(other)
                if board == nil { _exit(1) }
                kill(getpid(), SIGKILL)
            }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            guard status & 0x7f == SIGKILL, place.boards.count == 1 else { exit(1) }
            let board = try place.join()
            guard place.boards.count == 1 else { exit(2) }
            withExtendedLifetime(board) {}
        }
    }

    /// A child that runs no manager keeps neither the slot nor the file, and changes nothing.
    @Test func aChildKeepsNothingOfItsParents() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            var board: BoardFile? = try place.join()
            let owned = board!.place
            let (reader, writer) = makePipe()
            let (question, answer) = makePipe()
            let child = pk_fork()
            if child == 0 {
                // Its memory has the object still.
                board?.write(slot(of: 77).words)
                board?.notify()
                board?.leave()
                board = nil
                _ = unsafe write(writer, "x", 1)
                var byte: UInt8 = 0
                _ = unsafe read(question, &byte, 1)
                _exit(0)
            }
            var byte: UInt8 = 0
            _ = unsafe read(reader, &byte, 1)
            guard place.boards.count == 1 else { exit(1) }
            let other = try place.join()
            guard other.isHeld(owned), slots(other).isEmpty else { exit(2) }
            board = nil
            // The child lives, and holds nothing.
            guard !other.isHeld(owned) else { exit(3) }
            _ = unsafe write(answer, "x", 1)
            _ = waitpid(child, nil, 0)
        }
    }

    @Test func whoWatchesIsRungAndNotByWrites() throws {
        let place = Place()
        let (first, second) = (try place.join(), try place.join())
        let bell = first.watch()
        #expect(bell >= 0)
        func hasFired() -> Bool {
            var item = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&item, 1, 0) == 1
        }
        second.write(slot(of: 4).words)
        second.write(header: BoardShortage().words)
        #expect(!hasFired())
        second.notify()
        #expect(hasFired())
        close(bell)
    }
}

/// A directory that stands for a cgroup, and one for boards; removed with it.
private final class Place: Sendable {
    let path: String
    let cgroup: String
    init() {
        var template = Array("/tmp/pressurekit-board-test-XXXXXX".utf8CString)
        _ = unsafe mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        cgroup = path + "/cgroup"
        _ = unsafe mkdir(cgroup, 0o755)
        _ = unsafe mkdir(path + "/shm", 0o755)
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
    _ = board.read(slots: BoardLayout.slots) { _, slot in
        for place in 0..<BoardLayout.slots { slots[place] = BoardSlot(slot(place)) }
    }
    return slots
}

private func slot(of owner: UInt64) -> BoardSlot {
    var slot = BoardSlot()
    slot.owner = owner
    slot.held = 5
    return slot
}

private func makePipe() -> (CInt, CInt) {
    var ends: (CInt, CInt) = (-1, -1)
    unsafe withUnsafeMutableBytes(of: &ends) { _ = unsafe pipe($0.bindMemory(to: CInt.self).baseAddress!) }
    return ends
}
#endif
