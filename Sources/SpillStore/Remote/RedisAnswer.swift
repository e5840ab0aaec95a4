#if Redis
import CHiredis
import Glibc

/// One answer of the server, of the type that its first byte said. Freed with this.
@safe
struct RedisAnswer: ~Copyable {
    private let reply: UnsafeMutablePointer<redisReply>

    /// Takes an answer over.
    init(taking reply: UnsafeMutablePointer<redisReply>) { unsafe self.reply = reply }

    // Ours alone since `init`.
    deinit { unsafe freeReplyObject(reply) }

    /// What the server said was wrong; `nil` if nothing was.
    var failure: RedisFailure? { unsafe Self.failure(reply) }

    private static func failure(_ reply: UnsafeMutablePointer<redisReply>) -> RedisFailure? {
        guard unsafe reply.pointee.type == REDIS_REPLY_ERROR else { return nil }
        return RedisFailure(answer: unsafe text(reply) ?? "")
    }

    private static func text(_ reply: UnsafeMutablePointer<redisReply>) -> String? {
        // As long as it says, as long as the reply lives.
        guard let bytes = unsafe reply.pointee.str else { return nil }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: Int(reply.pointee.len)),
            as: UTF8.self
        )
    }

    /// The answer as text; `nil` if it is none.
    var text: String? {
        let type = unsafe reply.pointee.type
        return type == REDIS_REPLY_STRING || type == REDIS_REPLY_STATUS ? unsafe Self.text(reply) : nil
    }

    /// The answer as a number; `nil` if it is none.
    var integer: Int? { unsafe reply.pointee.type == REDIS_REPLY_INTEGER ? Int(reply.pointee.integer) : nil }

    /// Whether it is nothing: there is no such key, or a transaction was not carried out.
    var isNothing: Bool { unsafe reply.pointee.type == REDIS_REPLY_NIL }

    /// Whether it is a string of just these bytes.
    func isEqual(to expected: UnsafeRawBufferPointer) -> Bool {
        guard unsafe reply.pointee.type == REDIS_REPLY_STRING, let bytes = unsafe reply.pointee.str,
            unsafe Int(reply.pointee.len) == expected.count
        else { return false }
        guard let base = expected.baseAddress else { return true }
        // Both are that long.
        return unsafe memcmp(bytes, base, expected.count) == 0
    }

    /// The bytes, if it is a string of so many; `nil` if there is none, or it has another length.
    func bytes(count: Int) throws(RedisFailure) -> [UInt8]? {
        let type = unsafe reply.pointee.type
        if type == REDIS_REPLY_NIL { return nil }
        guard type == REDIS_REPLY_STRING, let bytes = unsafe reply.pointee.str else { throw .nonsense }
        // As many as it says.
        return unsafe Int(reply.pointee.len) == count
            ? Array(UnsafeRawBufferPointer(start: bytes, count: count)) : nil
    }

    /// Whether it is a string of bytes, and if so, whether it had as many as `destination`, which has them then.
    func copyBytes(to destination: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Bool {
        let type = unsafe reply.pointee.type
        if type == REDIS_REPLY_NIL { return false }
        guard type == REDIS_REPLY_STRING, let bytes = unsafe reply.pointee.str else { throw .nonsense }
        guard unsafe Int(reply.pointee.len) == destination.count else { return false }
        // Both are that long, and do not overlap.
        if let base = destination.baseAddress { unsafe memcpy(base, bytes, destination.count) }
        return true
    }

    /// The elements of an answer that is a list, if all are text or numbers; `nil` for nothing.
    var list: [String]? {
        guard unsafe reply.pointee.type == REDIS_REPLY_ARRAY else { return nil }
        var texts: [String] = []
        for index in 0..<(unsafe Int(reply.pointee.elements)) {
            // As many as it says.
            guard let element = unsafe reply.pointee.element[index] else { return nil }
            switch unsafe element.pointee.type {
            case REDIS_REPLY_INTEGER: texts.append(unsafe String(element.pointee.integer))
            default: texts.append(unsafe Self.text(element) ?? "")
            }
        }
        return texts
    }

    /// The two elements of a cursor's answer: where to go on, and what was found.
    var page: (cursor: String, found: [String])? {
        guard unsafe reply.pointee.type == REDIS_REPLY_ARRAY, unsafe reply.pointee.elements == 2,
            let first = unsafe reply.pointee.element[0], let second = unsafe reply.pointee.element[1],
            let cursor = unsafe Self.text(first), unsafe second.pointee.type == REDIS_REPLY_ARRAY
        else { return nil }
        var found: [String] = []
        for index in 0..<(unsafe Int(second.pointee.elements)) {
            if let element = unsafe second.pointee.element[index], let text = unsafe Self.text(element) {
                found.append(text)
            }
        }
        return (cursor, found)
    }

    /// The numbers that a transaction's commands came to.
    ///
    /// - Throws: the first error among them; nonsense for anything else.
    func integers() throws(RedisFailure) -> [Int] {
        guard unsafe reply.pointee.type == REDIS_REPLY_ARRAY else { throw .nonsense }
        var integers: [Int] = []
        for index in 0..<(unsafe Int(reply.pointee.elements)) {
            guard let element = unsafe reply.pointee.element[index] else { throw .nonsense }
            if let failure = unsafe Self.failure(element) { throw failure }
            guard unsafe element.pointee.type == REDIS_REPLY_INTEGER else { throw .nonsense }
            integers.append(unsafe Int(element.pointee.integer))
        }
        return integers
    }
}
#endif
