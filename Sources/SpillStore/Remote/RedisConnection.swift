#if Redis
import CHiredis
import Glibc
import PressureSystem
import SystemPackage

/// One connection, let in by the server. One thread's at a time; every call blocks, until a deadline, and allocates.
///
/// Requests are appended, sent together and answered in their order. After a failure that is not the server's own answer the
/// connection is of no use: what comes next on it may belong to an earlier request.
@safe
final class RedisConnection: @unchecked Sendable {
    // Sendable and safe: the pool gives it to one thread at a time, and frees it with its last reference.
    private let context: UnsafeMutablePointer<redisContext>
    private(set) var timeout: Duration
    /// Where it leads.
    let endpoint: RedisServer.Endpoint
    /// What it was when it let us in; a server that is the only one is not asked.
    private(set) var role = RoleOfServer.unknown
    private let isOfSeveral: Bool
    /// What encrypts it, if it is.
    private var stream: TLSStream?
    /// Requests that have been appended and not answered.
    private var unanswered = 0
    private var isSpent = false

    /// Connects to one of a server's addresses and is let in.
    ///
    /// - Parameter end: by when, if that is less than the server is given.
    /// - Throws: why it was not.
    init(to endpoint: RedisServer.Endpoint, of server: RedisServer, until end: MonotonicInstant) throws(RedisFailure) {
        func left() -> Duration { end - SystemClock().now() }
        guard left() > .zero else { throw RedisFailure(.timedOut, mayArrive: false) }
        let connected = min(end, SystemClock().now() + server.connectTimeout)
        let limit = timeval(connected - SystemClock().now())
        let context =
            switch endpoint {
            case .tcp(let host, let port): unsafe redisConnectWithTimeout(host, CInt(clamping: port), limit)
            case .unix(let path): unsafe redisConnectUnixWithTimeout(path, limit)
            }
        guard let context = unsafe context else { throw RedisFailure(.noMemory, mayArrive: false) }
        unsafe self.context = context
        isOfSeveral = server.isSeveral
        timeout = server.commandTimeout
        self.endpoint = endpoint
        guard unsafe context.pointee.err == 0 else {
            throw RedisFailure(unsafe Self.errno(of: context), mayArrive: false)
        }
        unsafe pk_redis_close_on_exec(context)
        if let tls = server.tls {
            setTimeout(connected - SystemClock().now())
            let host = tls.serverName ?? endpoint.host ?? ""
            stream = try unsafe TLSStream(tls, to: host, over: context.pointee.fd, until: connected)
        }
        setTimeout(min(server.commandTimeout, left()))
        try enter(server)
        setTimeout(server.commandTimeout)
    }

    // Nobody else has it any more.
    deinit { unsafe redisFree(context) }

    /// Each call of the system's waits no longer than a request may take; all together are held against the deadline.
    private func setTimeout(_ timeout: Duration) {
        self.timeout = timeout
        unsafe redisSetTimeout(context, timeval(timeout))
    }

    private func enter(_ server: RedisServer) throws(RedisFailure) {
        if let password = server.password {
            let answer = try ask(["AUTH"] + (server.user.map { [$0] } ?? []) + [password])
            guard answer.text == "OK" else { throw .nonsense }
        }
        if isOfSeveral { role = try RoleOfServer.ask(self) }
    }

    /// Something is not there that was. A primary that has become a replica meanwhile says nothing about what is lost.
    ///
    /// - Throws: that it has.
    func confirmLoss() throws(RedisFailure) {
        if isOfSeveral, case .replica = try RoleOfServer.ask(self) { throw .replica }
    }

    /// What hiredis says of a connection that failed, as the system's error.
    private static func errno(of context: UnsafeMutablePointer<redisContext>) -> Errno {
        switch unsafe context.pointee.err {
        case REDIS_ERR_IO:
            // A call that waited longer than the socket may says that it would block, and one that connects EINPROGRESS.
            switch Glibc.errno {
            case EAGAIN, EINPROGRESS, ETIMEDOUT, 0: .timedOut
            case EPIPE: .connectionReset
            case let number: Errno(rawValue: number)
            }
        case REDIS_ERR_EOF: .connectionReset
        case REDIS_ERR_PROTOCOL: .badMessage
        case REDIS_ERR_OOM: .noMemory
        // REDIS_ERR_TIMEOUT, which hiredis has since 1.0.
        case 6: .timedOut
        // All else that it has comes of looking the name up.
        default: .addressNotAvailable
        }
    }

    // MARK: Requests

    /// Appends a request, to be sent with others.
    func append(_ words: [String]) throws(RedisFailure) {
        try unsafe append(words, last: nil)
    }

    /// Appends a request whose last word is bytes.
    func append(_ words: [String], bytes: UnsafeRawBufferPointer) throws(RedisFailure) {
        try unsafe append(words, last: bytes)
    }

    /// The same for bytes of an array.
    func append(_ words: [String], bytes: ArraySlice<UInt8>) throws(RedisFailure) {
        // Valid for the call, which has copied them when it returns.
        let result = unsafe bytes.withUnsafeBytes { bytes -> Result<Void, RedisFailure> in
            Result { () throws(RedisFailure) in try unsafe append(words, last: bytes) }
        }
        try result.get()
    }

    private func append(_ words: [String], last: UnsafeRawBufferPointer?) throws(RedisFailure) {
        var joined: [UInt8] = []
        var lengths: [Int] = []
        for word in words {
            let start = joined.count
            joined.append(contentsOf: word.utf8)
            lengths.append(joined.count - start)
        }
        let count = unsafe words.count + (last == nil ? 0 : 1)
        // hiredis has copied all of it when it returns.
        let status = unsafe joined.withUnsafeBytes { words in
            var pointers = unsafe [UnsafePointer<CChar>?]()
            var start = 0
            for length in lengths {
                // Within `joined` by construction.
                let word = unsafe words.baseAddress.map { unsafe $0 + start }
                unsafe pointers.append(word?.assumingMemoryBound(to: CChar.self))
                start += length
            }
            if let last = unsafe last {
                unsafe pointers.append(last.baseAddress?.assumingMemoryBound(to: CChar.self))
                lengths.append(last.count)
            }
            guard let stream else {
                return unsafe redisAppendCommandArgv(context, CInt(count), &pointers, &lengths)
            }
            var request: UnsafeMutablePointer<CChar>?
            let length = unsafe redisFormatCommandArgv(&request, CInt(count), &pointers, &lengths)
            guard length > 0, let request = unsafe request else { return REDIS_ERR }
            // It is the stream's from now on.
            unsafe stream.append(UnsafeMutableBufferPointer(start: request, count: Int(length)))
            return REDIS_OK
        }
        guard status == REDIS_OK else { throw RedisFailure(.noMemory, mayArrive: false) }
        unanswered += 1
    }

    /// Sends what has been appended and hands over one answer after the other.
    ///
    /// - Parameter each: is given each answer with its number. What it throws is thrown once all answers are there.
    /// - Throws: why they are not all there, or the first that was an error.
    func exchange(_ each: (Int, borrowing RedisAnswer) throws(RedisFailure) -> Void) throws(RedisFailure) {
        let end = SystemClock().now() + timeout
        try send(until: end)
        var failure: RedisFailure?
        var index = 0
        while unanswered > 0 {
            let answer = try receive(until: end)
            unanswered -= 1
            if let error = answer.failure {
                failure = failure ?? error
            } else {
                do throws(RedisFailure) { try each(index, answer) } catch { failure = failure ?? error }
            }
            index += 1
        }
        if let failure { throw failure }
    }

    /// One request and its answer.
    func ask(_ words: [String]) throws(RedisFailure) -> RedisAnswer {
        try append(words)
        let end = SystemClock().now() + timeout
        try send(until: end)
        let answer = try receive(until: end)
        unanswered -= 1
        if let failure = answer.failure { throw failure }
        return answer
    }

    /// What the server's clock says, in seconds.
    func time() throws(RedisFailure) -> Int {
        guard let time = try ask(["TIME"]).list?.first.flatMap({ Int($0) }) else { throw .nonsense }
        return time
    }

    private func send(until end: MonotonicInstant) throws(RedisFailure) {
        if let stream { return try stream.send(until: end) }
        var isDone: CInt = 0
        while isDone == 0 {
            guard unsafe pk_redis_send(context, &isDone) == REDIS_OK else { throw lost() }
            if isDone == 0, SystemClock().now() > end { throw RedisFailure(.timedOut, mayArrive: true) }
        }
    }

    private func receive(until end: MonotonicInstant) throws(RedisFailure) -> RedisAnswer {
        while true {
            var reply: UnsafeMutableRawPointer?
            guard unsafe redisGetReplyFromReader(context, &reply) == REDIS_OK else { throw lost() }
            // Of this type, since the reader is the context's own.
            if let reply = unsafe reply {
                return unsafe RedisAnswer(taking: reply.assumingMemoryBound(to: redisReply.self))
            }
            guard SystemClock().now() <= end else { throw RedisFailure(.timedOut, mayArrive: true) }
            if let stream {
                var isRead = true
                try unsafe stream.receive(until: end) { bytes in
                    // Copied when it returns.
                    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    if unsafe redisReaderFeed(context.pointee.reader, start, bytes.count) != REDIS_OK { isRead = false }
                }
                guard isRead else { throw RedisFailure(.noMemory, mayArrive: true) }
                continue
            }
            guard unsafe redisBufferRead(context) == REDIS_OK else { throw lost() }
        }
    }

    private func lost() -> RedisFailure { RedisFailure(unsafe Self.errno(of: context), mayArrive: true) }

    /// Whether all that was asked has been answered, so that the next answer belongs to the next request.
    var isSettled: Bool { unsafe unanswered == 0 && context.pointee.err == 0 && !isSpent }

    /// Nobody else is to find it as it is.
    func spend() { isSpent = true }

    /// Whether an idle connection has been closed by the server: it was restarted, or closes those that are idle. One system
    /// call, which does not wait.
    var isStale: Bool { unsafe pk_redis_is_stale(context) != 0 }
}

extension timeval {
    /// A time that a call may take; at least a millisecond, since 0 would mean for ever.
    fileprivate init(_ duration: Duration) {
        let microseconds = max(1000, duration.nanoseconds / 1000)
        self.init(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
#endif
