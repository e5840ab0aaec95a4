#if Redis
import COpenSSL
import PressureSystem

/// What OpenSSL makes of ``RemoteTLS``: the certificates that are trusted, and our own.
@safe
final class TLSContext {
    // Freed with this; sessions hold references of their own.
    let context: OpaquePointer

    /// Reads the files. Blocks.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration` that names the file and what is wrong with it.
    init(_ tls: RemoteTLS) throws(PressureError) {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw Self.error("OpenSSL cannot be used") }
        unsafe self.context = context
        unsafe pk_tls_ask_nobody(context)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard unsafe pk_tls_refuse_old(context) == 1 else { throw Self.error("OpenSSL has no TLS 1.2") }
        if let path = tls.trustRoots {
            guard unsafe SSL_CTX_load_verify_locations(context, path, nil) == 1 else {
                throw Self.error("remote.tls.trustRoots is \"\(path)\", which has no certificates that can be read")
            }
        } else {
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw Self.error("the certificates that the system trusts cannot be read")
            }
        }
        guard let chain = tls.certificateChain, let key = tls.privateKey else { return }
        guard unsafe SSL_CTX_use_certificate_chain_file(context, chain) == 1 else {
            throw Self.error("remote.tls.certificateChain is \"\(chain)\", which has no certificate that can be read")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
            throw Self.error(
                "remote.tls.privateKey is \"\(key)\", which has no key for the certificate that can be read"
            )
        }
    }

    // Nobody else has it any more.
    deinit { unsafe SSL_CTX_free(context) }

    private static func error(_ what: String) -> PressureError {
        // The first is what the others come of.
        let reason = unsafe ERR_reason_error_string(ERR_peek_error()).map { unsafe String(cString: $0) }
        ERR_clear_error()
        return PressureError(
            code: .invalidConfiguration,
            message: "\(what)\(reason.map { " (\($0))" } ?? ""). It must be a file in PEM that this process may read."
        )
    }
}
#endif
