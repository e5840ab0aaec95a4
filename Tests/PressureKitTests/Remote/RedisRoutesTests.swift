#if Redis
import PressureSystem
import SystemPackage
import Testing

@testable import SpillStore

/// Which server is asked, by what others have said.
@Suite struct RedisRoutesTests {
    private typealias Endpoint = RedisServer.Endpoint
    private let a = Endpoint("a")!
    private let b = Endpoint("b:1")!
    private let c = Endpoint("c:2")!
    private let now = MonotonicInstant(nanoseconds: 0)

    private func moved(to endpoint: Endpoint) -> RedisFailure { RedisFailure(answer: "MOVED 7 \(endpoint)") }

    @Test func addressesAreReadAsTheyAreWritten() {
        let good: [(String, Endpoint)] = [
            ("a", .tcp(host: "a", port: 6379)), ("a.b:7", .tcp(host: "a.b", port: 7)),
            ("::1", .tcp(host: "::1", port: 6379)),
            ("[::1]:7", .tcp(host: "::1", port: 7)), ("[::1]", .tcp(host: "::1", port: 6379)),
            ("/x:7", .unix(path: "/x:7")),
        ]
        for (text, endpoint) in good { #expect(Endpoint(text) == endpoint, "\(text)") }
        for text in ["", ":7", "a:", "a:b", "a:0", "a:65536", "[]:7"] { #expect(Endpoint(text) == nil, "\(text)") }
        #expect(Endpoint("[::1]:7")?.description == "[::1]:7" && Endpoint("/x")?.description == "/x")
    }

    @Test func anAnswerSaysWhereKeysAre() {
        let said: [(String, Endpoint?)] = [
            ("MOVED 3999 10.0.0.2:6381", .tcp(host: "10.0.0.2", port: 6381)),
            ("MOVED 1 ::1:7", .tcp(host: "::1", port: 7)),
            ("MOVED 1 :7", .tcp(host: "a", port: 7)), ("MOVED 1 ?:7", .tcp(host: "a", port: 7)),
            ("MOVED 1 b", nil), ("MOVED", nil), ("MOVED 1 b:0", nil), ("ASK 1 b:7", nil), ("ERR no MOVED 1 b:7", nil),
        ]
        for (text, endpoint) in said {
            let failure = RedisFailure(answer: text)
            #expect(failure.moved?.seen(from: a) == endpoint && !failure.mayArrive, "\(text)")
        }
        for word in ["ASK 1 b:7", "MOVED 1 b:7", "TRYAGAIN", "CLUSTERDOWN Hash slot not served"] {
            #expect(RedisFailure(answer: word).errno == .resourceTemporarilyUnavailable)
        }
    }

    @Test func theLastOneThatHadTheKeysIsAskedFirst() {
        var routes = RedisRoutes([a, b])
        #expect(routes.candidates(for: "x") == [a, b])
        #expect(routes.noteFound(b, for: "x") == false, "the first is no other")
        #expect(routes.candidates(for: "x") == [b, a])
        #expect(routes.candidates(for: "y") == [b, a], "where others' keys are, these may be")
        #expect(routes.noteFound(a, for: "x") == true)
        #expect(routes.noteFound(a, for: "x") == false)
        #expect(routes.candidates(for: "x") == [a, b])
    }

    @Test func eachTagHasItsNode() {
        var routes = RedisRoutes([a])
        for tag in ["x", "y"] { _ = routes.noteFound(a, for: tag) }
        #expect(routes.noteRefusal(moved(to: b), of: a, for: "x") == true)
        #expect(routes.noteRefusal(moved(to: c), of: a, for: "y") == true)
        #expect(routes.candidates(for: "x") == [b, c, a] && routes.candidates(for: "y") == [c, b, a])
        #expect(routes.noteFound(b, for: "x") == true, "it is another than the one before")
        // Its replica has taken over, as any node can say.
        #expect(routes.noteRefusal(moved(to: a), of: c, for: "x") == true)
        #expect(routes.candidates(for: "x") == [a, c])
    }

    @Test func aReplicaIsAskedLast() {
        var routes = RedisRoutes([a, b, c])
        for tag in ["x", "y"] { _ = routes.noteFound(a, for: tag) }
        #expect(routes.noteRefusal(.replica, of: a, for: "x") == true)
        for tag in ["x", "y"] { #expect(routes.candidates(for: tag) == [b, c, a]) }
        // Somebody else has found the primary meanwhile: that is kept.
        #expect(routes.noteFound(b, for: "x") == true)
        #expect(routes.noteRefusal(.replica, of: a, for: "x") == true)
        #expect(routes.candidates(for: "x") == [b, a, c])
        var single = RedisRoutes([a])
        #expect(single.noteRefusal(.replica, of: a, for: "x") == false, "there is no other")
        // What was not answered may have been done.
        #expect(routes.noteRefusal(RedisFailure(.readOnlyFileSystem, mayArrive: true), of: b, for: "x") == false)
        #expect(routes.noteRefusal(RedisFailure(answer: "OOM"), of: b, for: "x") == false)
    }

    /// One node of a cluster that is not there keeps nobody from the others; and that another is there which only says so does
    /// not end the wait.
    @Test func eachTagWaitsForItself() {
        var routes = RedisRoutes([a, b])
        routes.noteFailure(.connectionRefused, for: "x", at: now)
        #expect(routes.refusal(for: "x", at: now) == .connectionRefused && routes.refusal(for: "y", at: now) == nil)
        _ = routes.noteFound(b, for: "x")
        #expect(routes.refusal(for: "x", at: now) == .connectionRefused)
        routes.noteSuccess(for: "x")
        #expect(routes.refusal(for: "x", at: now) == nil)
    }

    @Test func aServerSaysWhatItIs() {
        #expect(RoleOfServer.parse("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n") == .primary)
        let replica = "# Replication\r\nrole:slave\r\nmaster_host:::1\r\nmaster_port:7\r\n"
        #expect(RoleOfServer.parse(replica) == .replica(of: .tcp(host: "::1", port: 7)))
        #expect(RoleOfServer.parse("role:slave\r\nmaster_host:\r\nmaster_port:7\r\n") == .replica(of: nil))
        #expect(RoleOfServer.parse("xrole:master\r\n") == .unknown)
    }
}
#endif
