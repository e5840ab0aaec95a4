import CLinuxShims
import Glibc

/// What is said and answered.
extension ControlServer {
    /// A client has news: bytes, or its end.
    func hear(_ place: Int, failed: Bool) {
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
            guard state.process?.isThisProcess == true, var client = state.clients[place], client.ticket == ticket
            else {
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
    static func send(_ answer: ControlAnswer, to descriptor: CInt) -> Bool {
        // The bytes are the answer's own for the length of the call.
        let sent = unsafe answer.bytes.withUnsafeBytes { unsafe pk_send_bytes(descriptor, $0.baseAddress, $0.count) }
        return sent == answer.bytes.count
    }
}
