#if Redis
package import PressureSystem

/// Paths of files in PEM, and the name that a server's certificate must have; each `nil` for what is usual.
package struct TLSOptions: Hashable, Sendable {
    package var trustRoots: String?
    package var certificateChain: String?
    package var privateKey: String?
    package var serverName: String?

    package init(
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
