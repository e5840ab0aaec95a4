#if Redis
import Foundation
import PressureKit
import Testing

/// Certificates of a test's own, made by `openssl`: an authority, a server's and a client's; and those of an authority that nobody
/// trusts. In a directory that goes with this.
final class TestCertificates: Sendable {
    private let directory: String

    /// - Parameter names: what the server's certificate is for, as `subjectAltName` has it.
    init(names: String = "DNS:redis.test,IP:127.0.0.1") throws {
        directory = "/tmp/pk-certificates-\(String(UInt32.random(in: 0..<(.max)), radix: 36))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        for authority in ["ca", "other"] { try makeAuthority(authority) }
        try make("server", by: "ca", names: names)
        try make("outdated", by: "ca", names: names, days: -1)
        try make("client", by: "ca")
        try make("stranger", by: "other")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ file: String) -> String { "\(directory)/\(file)" }

    var trustRoots: String { path("ca.crt") }

    /// What a server is told to serve with them.
    func options(port: Int, showing server: String = "server", asksForCertificate: Bool = false) -> [String] {
        [
            "--tls-port", "\(port)", "--tls-cert-file", path("\(server).crt"), "--tls-key-file", path("\(server).key"),
            "--tls-ca-cert-file", trustRoots, "--tls-auth-clients", asksForCertificate ? "yes" : "no",
        ]
    }

    /// What a client trusts, and shows.
    func tls(showing client: String? = nil, serverName: String? = nil) -> RemoteTLS {
        RemoteTLS(
            trustRoots: trustRoots,
            certificateChain: client.map { path("\($0).crt") },
            privateKey: client.map { path("\($0).key") },
            serverName: serverName
        )
    }

    // MARK: Making

    private func makeAuthority(_ name: String) throws {
        try run(["req", "-x509"] + newKey(name) + ["-subj", "/CN=\(name)", "-days", "2", "-out", path("\(name).crt")])
    }

    /// - Parameter days: how long it is valid; -1 for one that was until yesterday.
    private func make(_ name: String, by authority: String, names: String? = nil, days: Int = 2) throws {
        try run(["req"] + newKey(name) + ["-subj", "/CN=\(name)", "-out", path("\(name).csr")])
        let extensions = "basicConstraints=CA:FALSE\n" + (names.map { "subjectAltName=\($0)\n" } ?? "")
        try extensions.write(toFile: path("\(name).ext"), atomically: false, encoding: .utf8)
        try run(
            [
                "x509", "-req", "-in", path("\(name).csr"), "-out", path("\(name).crt"), "-days", "\(days)",
                "-CA", path("\(authority).crt"), "-CAkey", path("\(authority).key"), "-extfile", path("\(name).ext"),
            ]
        )
    }

    private func newKey(_ name: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", path("\(name).key")]
    }

    private func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    }
}
#endif
