#if Redis
package import SystemPackage

/// Why a request came to nothing.
package struct RedisFailure: Error, Hashable, Sendable {
    /// The nearest error of the system's, which is what a spill file's failure is.
    package var errno: Errno
    /// Whether the server may have carried the request out, or may yet.
    package var mayArrive: Bool

    package init(_ errno: Errno, mayArrive: Bool) {
        self.errno = errno
        self.mayArrive = mayArrive
    }

    /// What a server that has answered with an error means: it has not done what it was asked.
    ///
    /// The first word is the kind of error, by convention of the protocol (RESP, "Simple errors").
    package init(answer: String) {
        let kind = answer.prefix { $0 != " " }
        let errno: Errno =
            switch kind {
            case "OOM": .noSpace
            case "READONLY": .readOnlyFileSystem
            case "NOAUTH", "WRONGPASS": .permissionDenied
            case "NOPERM": .notPermitted
            case "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN", "CLUSTERDOWN": .resourceTemporarilyUnavailable
            case "MOVED", "ASK", "CROSSSLOT": .notSupported
            default:
                // What `maxclients` and servers before 6.0 say has no word of its own.
                if answer.contains("max number of clients") {
                    .resourceTemporarilyUnavailable
                } else if answer.contains("AUTH") || answer.contains("password") {
                    .permissionDenied
                } else {
                    .ioError
                }
            }
        self.init(errno, mayArrive: false)
    }

    /// The answer is none that the request can have.
    static let nonsense = RedisFailure(.badMessage, mayArrive: true)
}
#endif
