import CLinuxShims
import Glibc
import PressureSignals
import PressureSystem
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
    static let listenerTag = 0

    struct Client {
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

    struct State {
        var listener: ControlListener?
        var process: ProcessMark?
        /// Given up for a moment to turn somebody away when there is no other descriptor left.
        var spare: CInt = -1
        var clients: [Client?] = Array(repeating: nil, count: ControlServer.mostClients)
        var loop: EventLoop?
        var events: UInt64 = 0
    }

    let state = Lock(State())
    let handler = Lock<Handler?>(nil)
    let remark: @Sendable (Remark) -> Void
    let peer: @Sendable (CInt) -> ControlPeer?

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
            if state.process?.isThisProcess != true { Self.drop(&state) }
            if let path = state.listener?.path { return path }
            let listener = try ControlListener.open(place)
            let path = listener.path
            state.process = ProcessMark()
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
        state.process = nil
    }

    static func end(_ state: inout State, _ place: Int) {
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
    func watch(_ descriptor: CInt, tag: Int, _ loop: EventLoop) -> Bool {
        loop.watch(descriptor, for: .readable, tag: tag, receiver: self)
    }
}
