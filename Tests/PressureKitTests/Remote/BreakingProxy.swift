#if Redis
import Foundation
import Glibc
import PressureKit
import PressureSystem

/// Stands between the library and a server, on a Unix socket of its own, and breaks what passes.
final class BreakingProxy: Sendable {
    /// What it does with answers.
    enum Mode: Hashable, Sendable {
        /// Nothing.
        case pass
        /// Closes the connection after so many bytes of the next answer.
        case closeAfter(Int)
        /// Answers so in the server's place.
        case answer(String)
        /// Sends no answer, ever.
        case silence
        /// Closes new connections at once.
        case refuse
        /// Keeps requests back until they are let go. Then they go on to the server, as a slow network would have it, whether
        /// anybody waits for the answer or not.
        case hold
        /// The same for requests that have this word.
        case holdWord(String)
        /// Changes a byte of the next long answer.
        case falsify
        /// After so many pieces of answers, or of requests, every connection is closed.
        case cutAnswers(Int), cutRequests(Int)
    }

    let socket: String
    /// The server's socket, or its port.
    private let target: (path: String, port: Int?)
    private let listener: CInt
    private let mode = Lock(Mode.pass)
    /// Requests that were held back, and how many of them go on, in their order.
    private let holding = ConditionLock((held: 0, free: 0))
    private let counts = Lock((connections: 0, broken: 0))

    /// - Parameter port: where the server is connected to, if not at its socket.
    init(to server: TestServer, port: Int? = nil) throws {
        socket = server.directory + "/p\(UInt16.random(in: 0..<(.max)))"
        target = (server.socket, port)
        listener = Self.open(socket, connecting: false)
        precondition(listener >= 0)
        try WorkerThread.spawn("proxy") { [self] in accept() }
    }

    var remote: RemoteSpill { .redis(socketPath: socket) }

    func set(_ mode: Mode) { self.mode.withLock { $0 = mode } }

    /// What was held back goes on, or the first so many.
    func letGo(_ count: Int = .max) { holding.withLock { $0.free = count } }

    /// How often it has broken something.
    var broken: Int { counts.withLock { $0.broken } }

    var connections: Int { counts.withLock { $0.connections } }

    /// Takes no more connections.
    func close() { shutdown(listener, CInt(SHUT_RDWR)) }

    private static func open(_ path: String, connecting: Bool) -> CInt {
        let descriptor = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Shorter than the address has room for: it is a short path in /tmp.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                if connecting { return unsafe Glibc.connect(descriptor, address, length) }
                guard unsafe bind(descriptor, address, length) == 0 else { return -1 }
                return listen(descriptor, 64)
            }
        }
        return status == 0 ? descriptor : -1
    }

    private static func connect(to port: Int) -> CInt {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let status = unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return status == 0 ? descriptor : -1
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            if mode.withLock({ $0 }) == .refuse {
                counts.withLock { $0.broken += 1 }
                Glibc.close(client)
                continue
            }
            counts.withLock { $0.connections += 1 }
            let server = target.port.map(Self.connect) ?? Self.open(target.path, connecting: true)
            // Both ends are shut down together, and closed by whoever is last.
            let ends = Ends(client, server)
            try? WorkerThread.spawn("proxy-up") { [self] in up(ends) }
            try? WorkerThread.spawn("proxy-down") { [self] in down(ends) }
        }
        Glibc.close(listener)
    }

    private final class Ends: Sendable {
        let client, server: CInt

        init(_ client: CInt, _ server: CInt) {
            self.client = client
            self.server = server
        }

        deinit {
            Glibc.close(client)
            if server >= 0 { Glibc.close(server) }
        }

        func shut() {
            shutdown(client, CInt(SHUT_RDWR))
            shutdown(server, CInt(SHUT_RDWR))
        }
    }

    /// Requests. What was held back goes on even if the client has gone meanwhile.
    private func up(_ ends: Ends) {
        while let bytes = Self.read(ends.client) {
            if isHeld(bytes) {
                counts.withLock { $0.broken += 1 }
                let number = holding.withLock { holding in
                    holding.held += 1
                    return holding.held
                }
                holding.wait { $0.free >= number ? () : nil }
            }
            if isCut(isAnswer: false) { break }
            Self.write(ends.server, bytes)
        }
        // The server reads to the end, and finds somebody who takes its answers: so it carries out all of it.
        shutdown(ends.server, CInt(SHUT_WR))
    }

    /// Answers.
    private func down(_ ends: Ends) {
        loop: while let bytes = Self.read(ends.server) {
            switch mode.withLock({ $0 }) {
            case .pass, .hold, .holdWord, .refuse, .cutRequests: Self.write(ends.client, bytes)
            case .falsify:
                var bytes = bytes
                if bytes.count > 1000 {
                    bytes[bytes.count / 2] ^= 1
                    mode.withLock { $0 = .pass }
                    counts.withLock { $0.broken += 1 }
                }
                Self.write(ends.client, bytes)
            case .cutAnswers:
                if isCut(isAnswer: true) { break loop }
                Self.write(ends.client, bytes)
            case .closeAfter(let count):
                counts.withLock { $0.broken += 1 }
                Self.write(ends.client, Array(bytes.prefix(count)))
                break loop
            case .answer(let text):
                counts.withLock { $0.broken += 1 }
                Self.write(ends.client, Array(text.utf8))
            case .silence: counts.withLock { $0.broken += 1 }
            }
        }
        ends.shut()
    }

    private func isHeld(_ bytes: [UInt8]) -> Bool {
        switch mode.withLock({ $0 }) {
        case .hold: true
        case .holdWord(let word): bytes.firstRange(of: Array(word.utf8)) != nil
        default: false
        }
    }

    /// Counts down.
    private func isCut(isAnswer: Bool) -> Bool {
        let isCut = mode.withLock { mode in
            switch mode {
            case .cutAnswers(let left) where isAnswer:
                mode = .cutAnswers(max(0, left - 1))
                return left == 0
            case .cutRequests(let left) where !isAnswer:
                mode = .cutRequests(max(0, left - 1))
                return left == 0
            default: return false
            }
        }
        if isCut { counts.withLock { $0.broken += 1 } }
        return isCut
    }

    private static func read(_ descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        // As long as the array.
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    private static func write(_ descriptor: CInt, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // As long as the slice; a peer that has gone is no signal.
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
#endif
