#if Redis
import ArgumentParser
import PressureKit
import SpillStore

/// `pressuresim remote ADDRESS`.
struct RemoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "List what is spilled to a Redis or Valkey server and saved there, and sweep what nobody holds.",
        discussion: Prose.flowing(
            """
            A line for each generation, that is for what one process has there: its size, its age, and how long it stays if
            nothing more is heard of the process. That is the lease, which a process renews as long as it lives. Then a line
            for each saved state: its size, who saved it and when, how long it stays, and who holds it. --sweep leaves those
            alone: they stay for the time that they were given.

              pressuresim remote cache.internal:6379
              pressuresim remote cache.internal --sweep
              pressuresim remote rediss://cache.internal:6380 --cacert ca.crt

            The password is read from the environment variable REDISCLI_AUTH, as redis-cli does. The user needs the commands
            CLUSTER NODES, TIME, ZRANGE, SCAN, PTTL, STRLEN, HMGET and GET, and UNLINK and ZREM to sweep; INFO where several
            addresses are named. Of a cluster one node is enough: all are listed and swept.

            Exit status: 0 listed or swept; 2 the input is wrong; 3 the server cannot be reached.
            """
        )
    )

    @Argument(
        help: ArgumentHelp(
            "host, host:port or the path of a Unix socket, after rediss:// for TLS; several with commas.",
            valueName: "address"
        )
    )
    var address: RemoteAddress

    @Option(help: ArgumentHelp("The user of the server's access control.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Speak TLS, and trust the authorities in this file.", valueName: "file"))
    var cacert: String?

    @Option(help: ArgumentHelp("Speak TLS, and show the certificate in this file.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The file with its key.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Speak TLS with a server that has a certificate for this name.", valueName: "name"))
    var sni: String?

    @Option(help: ArgumentHelp("What the keys begin with.", valueName: "text"))
    var prefix = "pk"

    @Flag(help: "Delete what has no lease, or one that is over.")
    var sweep = false

    @Flag(help: "With --sweep, delete everything: saved states, and what processes that run have there.")
    var all = false

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    /// For the numbers in the documentation: values go there and come back, and how fast is printed as JSON.
    @Flag(help: .private)
    var measure = false

    func validate() throws {
        if all, !sweep { throw ValidationError("--all goes with --sweep.") }
        guard (cert == nil) == (key == nil) else { throw ValidationError("--cert and --key go together.") }
    }

    private var remote: RemoteSpill {
        let isTold = [cacert, cert, sni].contains { $0 != nil }
        let tls = RemoteTLS(trustRoots: cacert, certificateChain: cert, privateKey: key, serverName: sni)
        return address.remote(user: user, tls: isTold ? tls : nil)
    }

    func run() async throws {
        try CommandOutput.check(json)
        if measure {
            let bench = RemoteBench(remote: remote)
            let figures = try await Blocking.run("bench") { try bench.run() }
            return try CommandOutput.write(CommandJSON.encode(figures), to: json ?? "-")
        }
        let remote = remote
        try remote.validate()
        let options = remote.options
        let reaper = RedisReaper(options.server, keyPrefix: prefix)
        let (found, states) = try await Blocking.run("remote") {
            sweep
                ? (try reaper.sweep(all: all), try reaper.sweepStates(all: all))
                : (try reaper.list(), try reaper.states())
        }
        let report = RemoteReport(server: options.server.name, isSwept: sweep, generations: found, states: states)
        if json != "-" { try CommandOutput.print(report.text) }
        if let json { try CommandOutput.write(CommandJSON.encode(RemoteReport.Facts(report)), to: json) }
    }
}
#endif
