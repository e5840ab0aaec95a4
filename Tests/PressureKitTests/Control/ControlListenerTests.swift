#if !THREAD_SANITIZER  // One thread at a time.
import CLinuxShims
import CTestShims
import Glibc
import Testing

@testable import PressureKit

/// Where a control socket is, who may be there, and what becomes of what was there before.
@Suite(.timeLimit(.minutes(5))) struct ControlListenerTests {
    private func withDirectory(_ body: (SocketDirectory) throws -> Void) throws {
        let directory = SocketDirectory()
        defer { directory.remove() }
        try body(directory)
    }

    // MARK: Choosing

    @Test(
        arguments: [
            (ControlSocket.off, "1", nil), (.environment, nil, nil), (.environment, "0", nil),
            (.environment, "/x/y", "/x/y"), (.environment, "relative", "relative"), (.path("/a"), nil, "/a"),
            (.path("/a"), "/b", "/a"), (.automatic, nil, "/run/user/7/pressurekit/42.sock"),
            (.automatic, "0", "/run/user/7/pressurekit/42.sock"), (.environment, "", "/run/user/7/pressurekit/42.sock"),
            (.environment, "1", "/run/user/7/pressurekit/42.sock"),
        ] as [(ControlSocket, String?, String?)]
    )
    func whoAsksGetsIt(socket: ControlSocket, variable: String?, path: String?) {
        var environment: [String: String] = [:]
        environment["PRESSUREKIT_CONTROL"] = variable
        let place = socket.place(environment: environment, user: 7, process: 42)
        #expect(place?.candidates.first?.path == path)
    }

    @Test func theRuntimeDirectoryComesFirstIfItIsAbsolute() {
        func directories(_ runtime: String?) -> [String?] {
            var environment: [String: String] = [:]
            environment["XDG_RUNTIME_DIR"] = runtime
            return ControlPlace.automatic(environment: environment, user: 7, process: 42).candidates.map(\.directory)
        }
        let others = ["/run/user/7/pressurekit", "/tmp/pressurekit-7"]
        #expect(directories(nil) == others)
        #expect(directories("x") == others)
        #expect(directories("") == others)
        #expect(directories("/x") == ["/x/pressurekit"] + others)
    }

    // MARK: Taking a place

    @Test func theSocketIsForItsUserFromTheFirstMomentAndGoesWithItsProcess() throws {
        try withDirectory { directory in
            let before = umask(0)
            defer { umask(before) }
            var listener: ControlListener? = try ControlListener.open(directory.place())
            #expect(listener?.path == directory.file("s"))
            #expect(SocketDirectory.mode(directory.file("s")) == 0o600)
            listener = nil
            #expect(!SocketDirectory.exists(directory.file("s")))
        }
    }

    @Test func theDirectoryIsMadeForTheUserAlone() throws {
        try withDirectory { directory in
            let before = umask(0)
            defer { umask(before) }
            let place = ControlPlace.automatic(
                environment: ["XDG_RUNTIME_DIR": directory.path],
                user: geteuid(),
                process: 42
            )
            let listener = try ControlListener.open(place)
            #expect(listener.path == directory.file("pressurekit/42.sock"))
            #expect(SocketDirectory.mode(directory.file("pressurekit")) == 0o700)
        }
    }

    /// Each would let somebody else put another socket in the place of ours.
    @Test(arguments: ["link", "open", "file"]) func aDirectoryThatOthersHaveAHandInIsPassedOver(kind: String) throws {
        try withDirectory { directory in
            let path = directory.file("pressurekit")
            switch kind {
            case "link":
                _ = unsafe mkdir(directory.file("real"), 0o700)
                _ = unsafe symlink(directory.file("real"), path)
            case "open":
                _ = unsafe mkdir(path, 0o700)
                _ = unsafe chmod(path, 0o770)
            default: close(unsafe pk_open_exclusive(path))
            }
            var place = ControlPlace.automatic(
                environment: ["XDG_RUNTIME_DIR": directory.path],
                user: geteuid(),
                process: 42
            )
            place.candidates = Array(place.candidates.prefix(1))
            let error = #expect(throws: PressureError.self) { try ControlListener.open(place) }
            #expect(error?.code == .controlUnavailable)
            #expect(error?.message.contains("not a directory of this user's alone") == true)
            // The next one serves as well.
            place.candidates.append(.init(directory: directory.file("second"), path: directory.file("second/42.sock")))
            let listener = try ControlListener.open(place)
            #expect(listener.path == directory.file("second/42.sock"))
        }
    }

    @Test func aDirectoryThatAnybodyMayRenameInIsRefused() throws {
        try withDirectory { directory in
            _ = unsafe chmod(directory.path, 0o777)
            let error = #expect(throws: PressureError.self) { try ControlListener.open(directory.place()) }
            #expect(error?.code == .controlUnavailable)
            #expect(error?.message.contains("no sticky bit") == true)
        }
    }

    @Test func whatADeadProcessLeftIsReplaced() throws {
        try withDirectory { directory in
            let dead = unsafe pk_listen_unix(directory.file("s"), 1)
            try #require(dead >= 0)
            close(dead)
            #expect(SocketDirectory.exists(directory.file("s")))
            let listener = try ControlListener.open(directory.place())
            _ = try SocketCaller(listener.path)
        }
    }

    /// Killed, it could not remove its socket; nobody with its number comes to replace it.
    @Test func whatKilledProcessesLeftIsSweptByTheNextOne() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            func place(_ process: Int32) -> ControlPlace {
                .automatic(environment: ["XDG_RUNTIME_DIR": directory.path], user: geteuid(), process: process)
            }
            let child = pk_fork()
            if child == 0 {
                let listener = try? ControlListener.open(place(getpid()))
                if listener == nil { _exit(1) }
                kill(getpid(), SIGKILL)
            }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            let left = directory.file("pressurekit/\(child).sock")
            guard status & 0x7f == SIGKILL, SocketDirectory.exists(left) else { exit(2) }
            // As of a process in another namespace, whose number means nothing here: it answers, so it lives.
            let other = try ControlListener.open(place(child + 1_000_000_000))
            guard !SocketDirectory.exists(left) else { exit(3) }
            let foreign = directory.file("pressurekit/0\(child).sock")
            let dead = unsafe pk_listen_unix(foreign, 1)
            close(dead)
            let mine = try ControlListener.open(place(getpid()))
            guard SocketDirectory.exists(mine.path), SocketDirectory.exists(other.path) else { exit(4) }
            // A name that no manager gives is somebody else's.
            guard SocketDirectory.exists(foreign) else { exit(5) }
            // A path of the app's own is in a directory of somebody else's: nothing but the name itself is looked at.
            let stays = directory.file("pressurekit/\(child).sock")
            close(unsafe pk_listen_unix(stays, 1))
            let given = try ControlListener.open(ControlPlace(path: directory.file("pressurekit/s")))
            guard SocketDirectory.exists(stays), SocketDirectory.exists(given.path) else { exit(6) }
        }
    }

    /// Nobody has asked how it ended: its number is taken still.
    @Test func aZombiesSocketIsSweptToo() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            func place(_ process: Int32) -> ControlPlace {
                .automatic(environment: ["XDG_RUNTIME_DIR": directory.path], user: geteuid(), process: process)
            }
            let child = pk_fork()
            if child == 0 {
                let listener = try? ControlListener.open(place(getpid()))
                if listener == nil { _exit(1) }
                kill(getpid(), SIGKILL)
            }
            var end = unsafe siginfo_t()
            _ = unsafe waitid(P_PID, id_t(child), &end, WEXITED | WNOWAIT)
            let left = directory.file("pressurekit/\(child).sock")
            guard kill(child, 0) == 0, SocketDirectory.exists(left) else { exit(2) }
            let mine = try ControlListener.open(place(getpid()))
            guard !SocketDirectory.exists(left), SocketDirectory.exists(mine.path) else { exit(3) }
        }
    }

    @Test func aLivingOneIsNot() throws {
        try withDirectory { directory in
            let first = try ControlListener.open(directory.place())
            let error = #expect(throws: PressureError.self) { try ControlListener.open(directory.place()) }
            #expect(error?.errno == EADDRINUSE)
            _ = try SocketCaller(first.path)
        }
    }

    /// It accepts nobody just now, which does not make it dead.
    @Test func aBusyOneIsNotEither() throws {
        try withDirectory { directory in
            let busy = unsafe pk_listen_unix(directory.file("s"), 0)
            defer { close(busy) }
            let waiting = try SocketCaller(directory.file("s"))
            #expect(unsafe pk_connect_unix(directory.file("s")) < 0)
            let error = #expect(throws: PressureError.self) { try ControlListener.open(directory.place()) }
            #expect(error?.errno == EADDRINUSE)
            withExtendedLifetime(waiting) {}
        }
    }

    @Test(arguments: ["file", "directory", "link"]) func whatIsNoSocketStays(kind: String) throws {
        try withDirectory { directory in
            let path = directory.file("s")
            switch kind {
            case "file": close(unsafe pk_open_exclusive(path))
            case "directory": _ = unsafe mkdir(path, 0o700)
            default: _ = unsafe symlink(directory.file("elsewhere"), path)
            }
            let error = #expect(throws: PressureError.self) { try ControlListener.open(directory.place()) }
            #expect(error?.code == .controlUnavailable)
            #expect(SocketDirectory.exists(path))
            #expect(!SocketDirectory.exists(directory.file("elsewhere")))
        }
    }

    @Test(arguments: [107, 108, 500]) func aPathHas107BytesAtMost(count: Int) throws {
        try withDirectory { directory in
            let path = directory.file(String(repeating: "s", count: count - directory.path.utf8.count - 1))
            let open = { try ControlListener.open(ControlPlace(path: path)) }
            if count == 107 {
                let listener = try open()
                #expect(listener.path == path)
            } else {
                let error = #expect(throws: PressureError.self) { try open() }
                #expect(error?.errno == ENAMETOOLONG)
                #expect(error?.message.contains("\(count) bytes") == true)
            }
        }
    }

    @Test(arguments: ["", "/no/such/directory/s", "a\u{0}b"]) func whatIsNoPlaceIsAnError(path: String) {
        let error = #expect(throws: PressureError.self) { try ControlListener.open(ControlPlace(path: path)) }
        #expect(error?.code == .controlUnavailable)
    }

    /// Somebody removed it, and another process listens there now.
    @Test func aNameThatIsNotOursAnyMoreIsLeftAlone() throws {
        try withDirectory { directory in
            var listener: ControlListener? = try ControlListener.open(directory.place())
            _ = unsafe unlink(directory.file("s"))
            let other = try ControlListener.open(directory.place())
            _ = listener
            listener = nil
            #expect(SocketDirectory.exists(other.path))
            _ = try SocketCaller(other.path)
        }
    }

    /// Whoever may open the directory can lock it, and that must not stop anybody for long.
    @Test func aLockedDirectoryIsAnErrorSoon() throws {
        try withDirectory { directory in
            let held = unsafe pk_open_directory(directory.path)
            defer { close(held) }
            try #require(pk_lock_briefly(held) == 0)
            let error = #expect(throws: PressureError.self) { try ControlListener.open(directory.place()) }
            #expect(error?.message.contains("locked") == true)
        }
    }

    @Test func aForksChildLeavesItsParentsSocketAlone() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            var listener: ControlListener? = try ControlListener.open(directory.place())
            _ = listener?.path
            let child = pk_fork()
            if child == 0 {
                listener = nil
                _exit(0)
            }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            guard status == 0, SocketDirectory.exists(directory.file("s")) else { exit(1) }
            listener = nil
            guard !SocketDirectory.exists(directory.file("s")) else { exit(2) }
        }
    }

    /// A child that runs no manager: who asks at the socket once its parent is gone hears that nobody is there.
    @Test func aChildOfForkKeepsNoSocket() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            let listener = try ControlListener.open(directory.place())
            let descriptor = listener.descriptor
            let child = pk_fork()
            if child == 0 { _exit(fcntl(descriptor, F_GETFD) < 0 && errno == EBADF ? 0 : 1) }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            guard status == 0, fcntl(descriptor, F_GETFD) >= 0 else { exit(1) }
            withExtendedLifetime(listener) {}
        }
    }
}
#endif
