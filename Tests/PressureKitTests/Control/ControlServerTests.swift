#if !THREAD_SANITIZER  // One thread at a time.
import CLinuxShims
import CTestShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The server on a loop that the test turns by hand: real sockets, no thread, no clock.
@Suite(.timeLimit(.minutes(5))) struct ControlServerTests {
    /// A server, what it was asked, and the answers it waits for.
    private final class Bench {
        typealias Answer = @Sendable (ControlAnswer) -> Void

        let directory = SocketDirectory()
        let loop: EventLoop
        let server: ControlServer
        let asked = Shared<[(command: ControlCommand, answer: Answer)]>([])
        let remarks = Shared<[ControlServer.Remark]>([])

        init(peer: ControlPeer? = ControlPeer(user: geteuid(), process: 1)) throws {
            loop = try EventLoop()
            let remarks = remarks
            server = ControlServer(peer: { _ in peer }, remark: { remark in remarks.change { $0.append(remark) } })
            let asked = asked
            server.connect { command, _, answer in asked.change { $0.append((command, answer)) } }
            try server.open(directory.place())
            server.attach(to: loop)
        }

        deinit {
            server.detach(from: loop)
            server.close()
            directory.remove()
        }

        /// Has the server deal with all that has happened.
        func turn() { for _ in 0..<64 { _ = loop.wait(upTo: .zero) } }

        func caller() throws -> SocketCaller {
            let caller = try SocketCaller(directory.file("s"))
            turn()
            return caller
        }

        func asks(_ text: String, _ caller: SocketCaller) -> SocketCaller.Heard {
            caller.say(text)
            turn()
            return caller.hear()
        }

        func answer(_ index: Int, _ refusal: ControlRefusal = .shutDown) {
            asked.value[index].answer(.refused(refusal))
            turn()
        }
    }

    @Test func aCommandIsAnsweredWhenItIsDone() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        #expect(bench.asks("evict 5\n", caller) == .nothing)
        #expect(bench.asked.value.map(\.command) == [.evict(.bytes(5))])
        bench.answer(0)
        #expect(caller.hear().text?.hasSuffix("\"shutDown\",\"message\":\"The manager is gone.\"}\n") == true)
        #expect(bench.asks("status\n", caller) == .nothing)
        #expect(bench.asked.value.count == 2)
    }

    /// One at a time, in order, whatever comes in one piece.
    @Test func commandsOfOneCallerAreCarriedOutInTurn() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        #expect(bench.asks("status\nbackground\nnonsense\nforeground\n", caller) == .nothing)
        #expect(bench.asked.value.map(\.command) == [.status])
        bench.answer(0)
        #expect(bench.asked.value.map(\.command) == [.status, .background])
        _ = caller.hear()
        bench.answer(1)
        #expect(bench.asked.value.map(\.command) == [.status, .background, .foreground])
        let text = try #require(caller.hear().text)
        #expect(text.split(separator: "\n").count == 2)
        #expect(text.contains("unknownCommand"))
    }

    @Test func aCommandInPiecesIsOne() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        for piece in ["ev", "ict", " 1", "2"] {
            #expect(bench.asks(piece, caller) == .nothing)
            #expect(bench.asked.value.isEmpty)
        }
        _ = bench.asks("\n", caller)
        #expect(bench.asked.value.map(\.command) == [.evict(.bytes(12))])
    }

    @Test func aLineThatDoesNotEndEndsTheConnection() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        caller.say(String(repeating: "x", count: 10_000))
        bench.turn()
        #expect(caller.hear().text?.contains("lineTooLong") == true)
        #expect(caller.hear() == .end)
        #expect(bench.loop.watchCount == 1)
    }

    /// `printf status | socat`: an end in the middle may have cut a number short.
    @Test func aLineWithoutAnEndIsNoCommand() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        caller.say("evict 100")
        caller.stopTalking()
        bench.turn()
        #expect(bench.asked.value.isEmpty)
        #expect(caller.hear() == .end)
    }

    @Test func whoStopsTalkingStillHearsTheAnswer() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        caller.say("status\n")
        caller.stopTalking()
        bench.turn()
        bench.answer(0)
        #expect(caller.hear().text?.contains("shutDown") == true)
        #expect(caller.hear() == .end)
        #expect(bench.loop.watchCount == 1)
    }

    @Test func whoLeavesHasTheCommandCarriedOutAndNobodyElseGetsTheAnswer() throws {
        let bench = try Bench()
        var caller: SocketCaller? = try bench.caller()
        caller?.say("evict 1\n")
        caller = nil
        bench.turn()
        #expect(bench.asked.value.count == 1)
        // The loop does not spin on the connection that has ended.
        #expect(bench.loop.watchCount == 1)
        bench.answer(0)
        let next = try bench.caller()
        #expect(next.hear() == .nothing)
        // A second answer is nobody's.
        bench.answer(0)
        #expect(next.hear() == .nothing)
    }

    @Test func whoDoesNotReadIsCutOff() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        let long = ControlRefusal(code: "x", message: String(repeating: "x", count: 60_000))
        var answered = 0
        while answered < 100 {
            caller.say("status\n")
            bench.turn()
            guard bench.asked.value.count > answered else { break }
            bench.answer(answered, long)
            answered += 1
        }
        #expect((2..<50).contains(answered))
        #expect(bench.loop.watchCount == 1)
    }

    // MARK: Many

    @Test func aNinthTakesThePlaceOfTheOneThatWasSilentLongest() throws {
        let bench = try Bench()
        let callers = try (0..<8).map { _ in try bench.caller() }
        for caller in callers { _ = bench.asks("nonsense\n", caller) }
        _ = bench.asks("nonsense\n", callers[0])
        let ninth = try bench.caller()
        #expect(callers[1].hear() == .end)
        for index in [0, 2, 3, 4, 5, 6, 7] { #expect(callers[index].hear() == .nothing, "\(index)") }
        #expect(bench.asks("nonsense\n", ninth).text?.contains("unknownCommand") == true)
        #expect(bench.loop.watchCount == 9)
        withExtendedLifetime(callers) {}
    }

    @Test func aHouseFullOfWorkTurnsTheNinthAway() throws {
        let bench = try Bench()
        let callers = try (0..<8).map { _ in try bench.caller() }
        for caller in callers { #expect(bench.asks("status\n", caller) == .nothing) }
        let ninth = try bench.caller()
        #expect(ninth.hear().text?.contains("\"busy\"") == true)
        #expect(ninth.hear() == .end)
        for index in callers.indices { bench.answer(index) }
        for caller in callers { #expect(caller.hear().text?.contains("shutDown") == true) }
    }

    /// A thousand that come, say something or nothing, and go in every order: nothing is left of them.
    @Test(arguments: [UInt64(1), 2]) func nothingIsLeftOfAThousandCallers(seed: UInt64) throws {
        let bench = try Bench()
        var generator = SeededGenerator(seed: seed)
        var callers: [SocketCaller] = []
        var answered = 0
        for _ in 0..<1000 {
            if callers.count > 12 { callers.remove(at: Int.random(in: 0..<callers.count, using: &generator)) }
            // Not accepted at once: several may come between two turns.
            if let caller = try? SocketCaller(bench.directory.file("s")) { callers.append(caller) }
            let lines = ["", "status\n", "stat", "x\ny\n", String(repeating: "z", count: 300), "evict 1\nstatus\n"]
            callers.randomElement(using: &generator)?.say(lines.randomElement(using: &generator)!)
            if Bool.random(using: &generator) { bench.turn() }
            while answered < bench.asked.value.count, Int.random(in: 0..<3, using: &generator) > 0 {
                bench.answer(answered)
                answered += 1
            }
            #expect(bench.loop.watchCount <= 1 + ControlServer.mostClients, "seed \(seed)")
        }
        callers = []
        while answered < bench.asked.value.count {
            bench.answer(answered)
            answered += 1
        }
        bench.turn()
        #expect(bench.loop.watchCount == 1, "seed \(seed)")
        #expect(answered > 50)
    }

    // MARK: Who

    @Test func onlyTheUserAndRootAreListenedTo() throws {
        for (peer, isWelcome) in [
            (ControlPeer(user: geteuid(), process: 2), true), (ControlPeer(user: 0, process: 2), true),
            (ControlPeer(user: geteuid() + 1, process: 2), false), (nil, false),
        ] {
            let bench = try Bench(peer: peer)
            let caller = try bench.caller()
            let heard = bench.asks("status\n", caller)
            #expect(bench.asked.value.isEmpty != isWelcome)
            if isWelcome { continue }
            #expect(heard.text?.contains("\"denied\"") == true)
            #expect(bench.remarks.value == [.denied(peer ?? ControlPeer(user: .max, process: 0))])
            #expect(bench.loop.watchCount == 1)
        }
    }

    @Test func theKernelSaysWhoCalls() throws {
        let bench = try Bench()
        let caller = try SocketCaller(bench.directory.file("s"))
        var ends: [CInt] = [0, 0]
        // Two descriptors, and room for two.
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(ControlServer.credentials(of: ends[0]) == ControlPeer(user: geteuid(), process: getpid()))
        #expect(ControlServer.credentials(of: -1) == nil)
        withExtendedLifetime(caller) {}
    }

    /// A real process of another user, where the test may make one.
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aProcessOfAnotherUserIsTurnedAway() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            let loop = try EventLoop()
            let server = ControlServer()
            server.connect { _, _, _ in exit(3) }
            try server.open(directory.place())
            server.attach(to: loop)
            // So that the kernel's own check of the path is not what turns it away.
            _ = unsafe chmod(directory.path, 0o711)
            _ = unsafe chmod(directory.file("s"), 0o666)
            let path = directory.file("s")
            let child = pk_fork()
            if child == 0 {
                guard setgid(65_534) == 0, setuid(65_534) == 0 else { _exit(10) }
                let caller = unsafe pk_connect_unix(path)
                guard caller >= 0 else { _exit(11) }
                _ = unsafe pk_send_bytes(caller, "status\n", 7)
                var watched = pollfd(fd: caller, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&watched, 1, 60_000)
                var text: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
                _ = unsafe read(caller, &text, 4)
                // Something was said before it hung up.
                _exit(text.0 == UInt8(ascii: "{") ? 0 : 12)
            }
            var status: CInt = 0
            while unsafe waitpid(child, &status, WNOHANG) == 0 { _ = loop.wait(upTo: .milliseconds(5)) }
            guard status == 0 else { exit(1) }
            guard loop.watchCount == 1 else { exit(2) }
        }
    }

    // MARK: The end

    @Test func closingEndsEverythingAndAnswersNobody() throws {
        let bench = try Bench()
        let (busy, idle) = (try bench.caller(), try bench.caller())
        _ = bench.asks("status\n", busy)
        bench.server.close()
        #expect(busy.hear() == .end)
        #expect(idle.hear() == .end)
        #expect(!SocketDirectory.exists(bench.directory.file("s")))
        #expect(bench.loop.watchCount == 0)
        bench.answer(0)
        // And it can be opened again.
        try bench.server.open(bench.directory.place())
        let caller = try bench.caller()
        #expect(bench.asks("x\n", caller).text?.contains("unknownCommand") == true)
    }

    @Test func itListensOnlyWhileTheLoopTurns() throws {
        let bench = try Bench()
        let caller = try bench.caller()
        bench.server.detach(from: bench.loop)
        #expect(caller.hear() == .end)
        #expect(bench.loop.watchCount == 0)
        bench.server.attach(to: bench.loop)
        let second = try bench.caller()
        #expect(bench.asks("x\n", second).text?.contains("unknownCommand") == true)
    }

    /// Whoever waits to be accepted would report events for ever.
    @Test func withoutADescriptorCallersAreTurnedAwayAndTheLoopStaysQuiet() async {
        await #expect(processExitsWith: .success) {
            let directory = SocketDirectory()
            defer { directory.remove() }
            let loop = try EventLoop()
            let server = ControlServer()
            try server.open(directory.place())
            server.attach(to: loop)
            let callers = try (0..<3).map { _ in try SocketCaller(directory.file("s")) }
            let used = dup(0)
            close(used)
            var limit = rlimit(rlim_cur: rlim_t(used), rlim_max: rlim_t(used))
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for _ in 0..<8 { _ = loop.wait(upTo: .zero) }
            for caller in callers {
                guard caller.hear().text?.contains("busy") == true, caller.hear() == .end else { exit(1) }
            }
            // Nobody notifies any more: a wait lasts as long as it may.
            let start = ContinuousClock.now
            _ = loop.wait(upTo: .milliseconds(30))
            guard ContinuousClock.now - start >= .milliseconds(25) else { exit(2) }
        }
    }
}
#endif
