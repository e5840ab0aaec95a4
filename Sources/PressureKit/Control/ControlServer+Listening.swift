import CLinuxShims
import Glibc
import PressureSystem

/// Who is let in.
extension ControlServer {
    func receive(_ event: EventLoop.Event) {
        if event.tag == Self.listenerTag {
            welcome()
        } else {
            hear(event.tag - 1, failed: event.failed)
        }
    }

    /// Accepts whoever waits, a house full at a time; the rest is reported again.
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

    /// There is no descriptor left, and who waits to be accepted would report events for ever.
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
}
