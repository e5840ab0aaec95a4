import CLinuxShims
import Glibc
import Synchronization

/// Who asks over the control socket.
struct ControlPeer: Hashable, Sendable {
    /// The user, as the kernel knows it.
    var user: UInt32
    /// The process's number.
    var process: Int32
}

/// Takes commands from a Unix socket, on the monitor's thread, and sends each answer when there is one.
///
/// Nothing here waits: sockets do not block, a caller may send one line at a time, an answer that the socket does not take
/// at once ends the connection, and of a full house the one that was silent longest has to leave. Nothing is allocated
/// while nobody talks.
final class ControlServer: LoopGuest {
    /// Has a command carried out. Called on the monitor's thread, with no lock held; must not block. The answer may come
    /// from any thread, once, also before it returns.
    typealias Handler =
        @Sendable (ControlCommand, ControlPeer, _ answer: @escaping @Sendable (ControlAnswer) -> Void) -> Void

    /// What the server has to say for itself.
    enum Remark: Hashable, Sendable {
        /// Somebody who is not listened to.
        case denied(ControlPeer)
        /// The last descriptor is gone; nobody is accepted any more.
        case deaf
    }

    /// The most connections at a time.
    static let mostClients = 8
    /// What the listening socket is called in the loop; client n is n + 1.
    private static let listenerTag = 0

    private struct Client {
        let descriptor: CInt
        let peer: ControlPeer
        /// Tells it from another one that was in its place when a command began.
        let ticket: UInt64
        /// When it was last heard of, in events.
        var heard: UInt64
        var lines = ControlLines()
        /// A command of it is being carried out; it is not listened to meanwhile.
        var isBusy = false
    }

    private struct State {
        var listener: ControlListener?
        var process: pid_t = 0
        /// Given up for a moment to turn somebody away when there is no other descriptor left.
        var spare: CInt = -1
        var clients: [Client?] = Array(repeating: nil, count: ControlServer.mostClients)
        var loop: EventLoop?
        var events: UInt64 = 0
    }

    private let state = Lock(State())
    private let handler = Lock<Handler?>(nil)
    private let remark: @Sendable (Remark) -> Void
    private let peer: @Sendable (CInt) -> ControlPeer?

    /// Creates a server that is closed.
    ///
    /// - Parameters:
    ///   - peer: who is at the other end of a socket; `nil` if the kernel does not say.
    ///   - remark: told on the monitor's thread, with no lock held.
    init(
        peer: @escaping @Sendable (CInt) -> ControlPeer? = ControlServer.credentials,
        remark: @escaping @Sendable (Remark) -> Void = { _ in }
    ) {
        self.peer = peer
        self.remark = remark
    }

    deinit { close() }

    /// Says who carries commands out.
    func connect(_ handler: @escaping Handler) { self.handler.withLock { $0 = handler } }

    /// What the kernel says of the other end: who it was when it connected.
    static func credentials(of descriptor: CInt) -> ControlPeer? {
        var peer = ControlPeer(user: 0, process: 0)
        return unsafe pk_peer(descriptor, &peer.user, &peer.process) == 0 ? peer : nil
    }

    // MARK: Opening and closing

    /// Listens. Blocks briefly on the file system. Does nothing if it does already; what is left of a parent before a
    /// fork(2) is let go of first, and not removed.
    ///
    /// - Returns: where.
    /// - Throws: ``PressureError`` with `controlUnavailable`.
    @discardableResult
    func open(_ place: ControlPlace) throws(PressureError) -> String {
        try state.withLock { (state: inout State) throws(PressureError) in
            if state.process != getpid() { Self.drop(&state) }
            if let path = state.listener?.path { return path }
            let listener = try ControlListener.open(place)
            let path = listener.path
            state.process = getpid()
            state.spare = pk_eventfd()
            let descriptor = listener.descriptor
            state.listener = listener
            if let loop = state.loop { watch(descriptor, tag: Self.listenerTag, loop) }
            return path
        }
    }

    /// Listens no longer, ends all connections and removes the socket. Commands that were begun are carried out, and not
    /// answered.
    func close() { state.withLock { Self.drop(&$0) } }

    private static func drop(_ state: inout State) {
        for place in state.clients.indices { end(&state, place) }
        if let listener = state.listener.take() { state.loop?.unwatch(listener.descriptor) }
        if state.spare >= 0 { Glibc.close(state.spare) }
        state.spare = -1
        state.process = 0
    }

    private static func end(_ state: inout State, _ place: Int) {
        guard let client = state.clients[place] else { return }
        state.clients[place] = nil
        state.loop?.unwatch(client.descriptor)
        Glibc.close(client.descriptor)
    }

    func attach(to loop: EventLoop) {
        state.withLock { state in
            state.loop = loop
            if let descriptor = state.listener?.descriptor { watch(descriptor, tag: Self.listenerTag, loop) }
        }
    }

    func detach(from loop: EventLoop) {
        state.withLock { state in
            guard state.loop === loop else { return }
            for place in state.clients.indices { Self.end(&state, place) }
            if let descriptor = state.listener?.descriptor { loop.unwatch(descriptor) }
            state.loop = nil
        }
    }

    @discardableResult
    private func watch(_ descriptor: CInt, tag: Int, _ loop: EventLoop) -> Bool {
        loop.watch(descriptor, for: .readable, tag: tag, receiver: self)
    }

    // MARK: Listening

    func receive(_ event: EventLoop.Event) {
        if event.tag == Self.listenerTag {
            welcome()
        } else {
            hear(event.tag - 1, failed: event.failed)
        }
    }

    /// Accepts whoever waits, a house full at a time; the rest rings again.
    private func welcome() {
        for _ in 0..<Self.mostClients {
            var said: Remark?
            let isMore = state.withLock { state in accept(&state, &said) }
            if let said { remark(said) }
            guard isMore else { return }
        }
    }

    /// - Returns: whether somebody else may be waiting.
    private func accept(_ state: inout State, _ said: inout Remark?) -> Bool {
        guard let loop = state.loop, let listening = state.listener?.descriptor else { return false }
        let descriptor = pk_accept(listening, CInt(2 * ControlAnswer.mostBytes))
        guard descriptor >= 0 else {
            let reason = errno
            guard reason == EMFILE || reason == ENFILE else { return reason == EINTR || reason == ECONNABORTED }
            return turnAway(&state, listening, loop, &said)
        }
        guard let peer = peer(descriptor), peer.user == geteuid() || peer.user == 0 else {
            said = .denied(self.peer(descriptor) ?? ControlPeer(user: .max, process: 0))
            Self.refuse(descriptor, .denied)
            return true
        }
        guard let place = Self.place(&state) else {
            Self.refuse(descriptor, .busy)
            return true
        }
        state.events += 1
        state.clients[place] = Client(descriptor: descriptor, peer: peer, ticket: state.events, heard: state.events)
        if !watch(descriptor, tag: place + 1, loop) { Self.end(&state, place) }
        return true
    }

    /// There is no descriptor left, and who waits to be accepted would ring for ever.
    private func turnAway(
        _ state: inout State,
        _ listening: CInt,
        _ loop: EventLoop,
        _ said: inout Remark?
    ) -> Bool {
        if state.spare >= 0 {
            Glibc.close(state.spare)
            let descriptor = pk_accept(listening, 0)
            if descriptor >= 0 { Self.refuse(descriptor, .busy) }
            state.spare = pk_eventfd()
            if state.spare >= 0 { return true }
        }
        // Another thread was faster.
        loop.unwatch(listening)
        said = .deaf
        return false
    }

    private static func refuse(_ descriptor: CInt, _ refusal: ControlRefusal) {
        _ = send(ControlAnswer.refused(refusal), to: descriptor)
        Glibc.close(descriptor)
    }

    /// An empty place, or that of the client that was silent longest; `nil` when commands of all are being carried out.
    private static func place(_ state: inout State) -> Int? {
        var oldest: (place: Int, heard: UInt64)?
        for place in state.clients.indices {
            guard let client = state.clients[place] else { return place }
            if !client.isBusy, client.heard < oldest?.heard ?? .max { oldest = (place, client.heard) }
        }
        if let oldest { end(&state, oldest.place) }
        return oldest?.place
    }

    // MARK: Talking

    private func hear(_ place: Int, failed: Bool) {
        let isHeard = state.withLock { state in
            guard var client = state.clients[place], !client.isBusy else { return false }
            let count = Self.read(from: client.descriptor, into: &client.lines)
            let reason = errno
            guard count > 0 else {
                let isOver = count == 0 || failed || (reason != EAGAIN && reason != EINTR)
                if isOver { Self.end(&state, place) }
                return false
            }
            state.events += 1
            client.heard = state.events
            state.clients[place] = client
            return true
        }
        if isHeard { serve(place) }
    }

    private static func read(from descriptor: CInt, into lines: inout ControlLines) -> Int {
        var buffer = InlineArray<256, UInt8>(repeating: 0)
        var bytes = buffer.mutableSpan
        let room = min(lines.room, bytes.count)
        // The kernel writes at most `room` bytes from the start, and the buffer has so many.
        let count = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            let count = unsafe Glibc.read(descriptor, bytes.baseAddress, room)
            if count > 0 { unsafe lines.add(bytes[..<count]) }
            return count
        }
        return count
    }

    private enum Work {
        case none
        case again
        case command(ControlCommand, ControlPeer, ticket: UInt64)
    }

    /// Goes through the lines that are there, until one is a command that has to be carried out.
    private func serve(_ place: Int) {
        while true {
            switch state.withLock({ state in next(&state, place) }) {
            case .none: return
            case .again: continue
            case .command(let command, let peer, let ticket):
                guard let handler = handler.withLock({ $0 }) else {
                    answer(.refused(.shutDown), to: place, ticket: ticket)
                    return
                }
                handler(command, peer) { [weak self] in self?.answer($0, to: place, ticket: ticket) }
                return
            }
        }
    }

    private func next(_ state: inout State, _ place: Int) -> Work {
        guard var client = state.clients[place], !client.isBusy else { return .none }
        let line = client.lines.next()
        state.clients[place] = client
        switch line {
        case .wait: return .none
        case .tooLong:
            _ = Self.send(.refused(.lineTooLong), to: client.descriptor)
            Self.end(&state, place)
            return .none
        case .line(let line):
            do throws(ControlRefusal) {
                let command = try ControlCommand(line: line)
                client.isBusy = true
                state.clients[place] = client
                state.loop?.unwatch(client.descriptor)
                return .command(command, client.peer, ticket: client.ticket)
            } catch {
                if !Self.send(.refused(error), to: client.descriptor) { Self.end(&state, place) }
                return .again
            }
        }
    }

    /// A command has been carried out. On any thread.
    private func answer(_ answer: ControlAnswer, to place: Int, ticket: UInt64) {
        let isThere = state.withLock { state in
            // A fork's child has a copy of the connection, and nothing to say on it.
            guard state.process == getpid(), var client = state.clients[place], client.ticket == ticket else {
                return false
            }
            client.isBusy = false
            state.clients[place] = client
            guard let loop = state.loop, Self.send(answer, to: client.descriptor),
                watch(client.descriptor, tag: place + 1, loop)
            else {
                Self.end(&state, place)
                return false
            }
            return true
        }
        // It may have said more meanwhile.
        if isThere { serve(place) }
    }

    /// - Returns: whether the socket took all of it at once.
    private static func send(_ answer: ControlAnswer, to descriptor: CInt) -> Bool {
        // The bytes are the answer's own for the length of the call.
        let sent = unsafe answer.bytes.withUnsafeBytes { unsafe pk_send_bytes(descriptor, $0.baseAddress, $0.count) }
        return sent == answer.bytes.count
    }
}
