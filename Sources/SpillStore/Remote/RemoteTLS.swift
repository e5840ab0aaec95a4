#if Redis
package import PressureSystem

/// How the connection to a server is encrypted, and by what it is known: TLS 1.2 or later.
///
/// ```swift
/// configuration.remote = .redis(host: "redis.example.com", user: "thumbnails", password: password)
/// configuration.remote?.tls = RemoteTLS(trustRoots: "/etc/redis/ca.crt")
/// ```
///
/// The server must show a certificate that leads to a trusted one and was made for its name. There is no way to leave that
/// out: whoever is in between could read the password. The files are read with each new connection, so that they can be replaced
/// while the process runs.
///
/// Only with the package trait `Redis`, which links OpenSSL.
public struct RemoteTLS: Hashable, Sendable {
    /// The path of a file with the certificates of the authorities that are trusted, in PEM. `nil`, the default, for those that
    /// the system trusts, or the environment variable `SSL_CERT_FILE` names.
    public var trustRoots: String?

    /// The path of a file with this process's certificate, and those that lead from it to an authority of the server's, in PEM.
    /// `nil`, the default, for none: Redis asks for one unless it has `tls-auth-clients no`.
    public var certificateChain: String?

    /// The path of a file with the key that the certificate belongs to, in PEM, without a password.
    public var privateKey: String?

    /// The name that the server's certificate must have, in place of the host's that was connected to: for addresses that it
    /// does not have, and for several servers with one certificate.
    public var serverName: String?

    /// Creates a description. Reads no file: whoever connects does.
    public init(
        trustRoots: String? = nil,
        certificateChain: String? = nil,
        privateKey: String? = nil,
        serverName: String? = nil
    ) {
        self.trustRoots = trustRoots
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.serverName = serverName
    }

    /// Reads the files, to see whether that can be done. Blocks.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration` that says what is wrong.
    package func validate() throws(PressureError) {
        guard (certificateChain == nil) == (privateKey == nil) else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "remote.tls has one of certificateChain and privateKey; it needs both, or neither."
            )
        }
        guard serverName.map({ !$0.isEmpty && !$0.utf8.contains(0) }) ?? true else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "remote.tls.serverName is no name; use nil for the host's."
            )
        }
        _ = try TLSContext(self)
    }
}
#endif
