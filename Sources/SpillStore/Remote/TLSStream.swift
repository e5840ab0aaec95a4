#if Redis
import CHiredis
import Glibc
import PressureSystem
import SystemPackage

/// An encrypted connection: a ``TLSSession``, and the socket that it leads over. One thread's at a time; every call blocks, until a
/// deadline.
@safe
final class TLSStream {
    private let session: TLSSession
    /// Not its own. Its calls wait no longer than the connection has told the system.
    private let socket: CInt
    /// Requests that are yet to be sent, as hiredis has written them. Records are made of a part when it is sent.
    private var requests = unsafe [UnsafeMutableBufferPointer<CChar>]()
    /// Room for such a part: four full records, and what is around each (RFC 8446, section 5.1).
    private var buffer = [UInt8](repeating: 0, count: part + 4 * 256)
    private static let part = 64 << 10

    /// Shakes hands over a socket that is connected.
    ///
    /// - Throws: why the server is not to be spoken to; nothing has been asked of it then.
    init(_ tls: RemoteTLS, to host: String, over socket: CInt, until end: MonotonicInstant) throws(RedisFailure) {
        let context: TLSContext
        do {
            context = try TLSContext(tls)
        } catch {
            // They could be read when the manager was made.
            throw RedisFailure(.invalidArgument, mayArrive: false)
        }
        session = try TLSSession(context, to: host)
        self.socket = socket
        do throws(RedisFailure) {
            while try !session.shakeHands() {
                try flush(until: end)
                try takeIn(until: end)
            }
            try flush(until: end)
        } catch {
            // The server is told why.
            try? flush(until: end)
            throw RedisFailure(error.errno, mayArrive: false)
        }
    }

    // Handed over by hiredis, and sent to nobody.
    deinit { freeRequests() }

    /// Takes over a request that hiredis has written, to be sent.
    func append(_ request: UnsafeMutableBufferPointer<CChar>) { unsafe requests.append(request) }

    /// Sends what was appended.
    func send(until end: MonotonicInstant) throws(RedisFailure) {
        for index in unsafe requests.indices {
            var rest = unsafe UnsafeRawBufferPointer(requests[index])[...]
            while unsafe !rest.isEmpty {
                let part = unsafe rest.prefix(Self.part)
                try unsafe session.write(UnsafeRawBufferPointer(rebasing: part))
                try flush(until: end)
                unsafe rest = unsafe rest.dropFirst(part.count)
            }
        }
        freeRequests()
    }

    private func freeRequests() {
        unsafe requests.forEach { unsafe redisFreeCommand($0.baseAddress) }
        unsafe requests.removeAll(keepingCapacity: true)
    }

    /// Waits for something to come, and hands over what it says, if that is all there.
    func receive(until end: MonotonicInstant, _ give: (UnsafeRawBufferPointer) -> Void) throws(RedisFailure) {
        try takeIn(until: end)
        while true {
            let count = try unsafe withBuffer { buffer throws(RedisFailure) in try unsafe session.read(into: buffer) }
            guard count > 0 else { return try flush(until: end) }
            // As long as the array.
            unsafe buffer.withUnsafeBytes { unsafe give(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
    }

    // MARK: The socket

    /// Sends the records that there are.
    private func flush(until end: MonotonicInstant) throws(RedisFailure) {
        while true {
            let count = unsafe withBuffer { unsafe session.takeRecords(into: $0) }
            var sent = 0
            while sent < count {
                guard SystemClock().now() <= end else { throw RedisFailure(.timedOut, mayArrive: true) }
                // Within the array. A peer that has gone is no signal.
                let status = unsafe buffer.withUnsafeBytes {
                    unsafe Glibc.send(socket, $0.baseAddress! + sent, count - sent, CInt(MSG_NOSIGNAL))
                }
                if status >= 0 { sent += status } else { try pass(errno, until: end, isSending: true) }
            }
            if count == 0 { return }
        }
    }

    /// Takes in what has come; waits for some of it.
    private func takeIn(until end: MonotonicInstant) throws(RedisFailure) {
        while true {
            guard SystemClock().now() <= end else { throw RedisFailure(.timedOut, mayArrive: true) }
            // As long as the array.
            let count = unsafe withBuffer { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            if count == 0 { throw RedisFailure(.connectionReset, mayArrive: true) }
            if count > 0 {
                return try unsafe withBuffer { buffer throws(RedisFailure) in
                    try unsafe session.put(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                }
            }
            try pass(errno, until: end)
        }
    }

    /// Whether a call is to be made again.
    ///
    /// - Throws: why not.
    private func pass(_ number: CInt, until end: MonotonicInstant, isSending: Bool = false) throws(RedisFailure) {
        switch number {
        case EINTR: return
        // It has waited as long as the connection lets it.
        case EAGAIN: throw RedisFailure(.timedOut, mayArrive: true)
        case EPIPE, ECONNRESET:
            // A server that wants no more of us has said why before it closed, and nobody has read that.
            if isSending {
                try takeIn(until: end)
                _ = try unsafe withBuffer { buffer throws(RedisFailure) in try unsafe session.read(into: buffer) }
            }
            throw RedisFailure(.connectionReset, mayArrive: true)
        default: throw RedisFailure(Errno(rawValue: number), mayArrive: true)
        }
    }

    private func withBuffer<Result, Failure>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // As long as the array.
        let result = unsafe buffer.withUnsafeMutableBytes { buffer -> Swift.Result<Result, Failure> in
            let buffer = unsafe buffer
            return Swift.Result { () throws(Failure) in try unsafe body(buffer) }
        }
        return try result.get()
    }
}
#endif
