#if Redis
package import SystemPackage

/// Why a request came to nothing.
package struct RedisFailure: Error, Hashable, Sendable {
    /// The nearest error of the system's, which is what a spill file's failure is.
    package var errno: Errno
    /// Whether the server may have carried the request out, or may yet.
    package var mayArrive: Bool
    /// Where a node of a cluster says that the keys are.
    var moved: RedisServer.Endpoint?

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
            // What a cluster says while keys are on their way from node to node, or a node has none yet in its place, passes.
            case "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN", "CLUSTERDOWN", "ASK", "MOVED":
                .resourceTemporarilyUnavailable
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
        moved = RedisServer.Endpoint(moved: answer)
    }

    /// It takes no writes: another is the primary.
    static let replica = RedisFailure(.readOnlyFileSystem, mayArrive: false)

    var isReplica: Bool { self == .replica }

    /// The answer is none that the request can have.
    static let nonsense = RedisFailure(.badMessage, mayArrive: true)
}
#endif
