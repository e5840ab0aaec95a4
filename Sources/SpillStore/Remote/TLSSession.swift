#if Redis
import COpenSSL
import SystemPackage

/// The client's side of a TLS connection: makes records of what is to be sent, and reads records that have come. Sends and
/// receives nothing itself, and waits for nobody.
@safe
final class TLSSession {
    // One thread's at a time, as the connection is.
    private let tls: OpaquePointer
    /// Records that have come, and those to be sent. The session's own.
    private let coming: OpaquePointer
    private let going: OpaquePointer

    /// - Parameter host: the name or address that the server's certificate must have.
    init(_ context: TLSContext, to host: String) throws(RedisFailure) {
        guard let tls = unsafe SSL_new(context.context) else { throw RedisFailure(.noMemory, mayArrive: false) }
        guard let coming = unsafe BIO_new(BIO_s_mem()), let going = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(tls)
            throw RedisFailure(.noMemory, mayArrive: false)
        }
        unsafe (self.tls, self.coming, self.going) = (tls, coming, going)
        unsafe SSL_set_bio(tls, coming, going)
        unsafe SSL_set_connect_state(tls)
        // An address is none of the names that a server has several certificates for.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1 { return }
        unsafe SSL_set_hostflags(tls, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard unsafe SSL_set1_host(tls, host) == 1, unsafe pk_tls_set_name(tls, host) == 1 else {
            throw RedisFailure(.certificateOfAnother, mayArrive: false)
        }
    }

    // It frees the two others.
    deinit { unsafe SSL_free(tls) }

    /// Goes on with the handshake as far as what has come allows. Returns whether it is done.
    ///
    /// - Throws: why the server is not to be spoken to.
    func shakeHands() throws(RedisFailure) -> Bool {
        ERR_clear_error()
        let status = unsafe SSL_do_handshake(tls)
        if status == 1 { return true }
        try check(status)
        return false
    }

    /// Makes records of bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) {
        guard unsafe !bytes.isEmpty else { return }
        ERR_clear_error()
        var written = 0
        // All of them: there is always room in memory.
        let status = unsafe SSL_write_ex(tls, bytes.baseAddress, bytes.count, &written)
        if status != 1 {
            try check(status)
            throw .nonsense
        }
    }

    /// Takes what is to be sent, as much as there is room for; 0 when there is nothing.
    func takeRecords(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        Int(max(0, unsafe BIO_read(going, buffer.baseAddress, CInt(clamping: buffer.count))))
    }

    /// Takes records that have come, or parts of them.
    func put(_ records: UnsafeRawBufferPointer) throws(RedisFailure) {
        guard unsafe BIO_write(coming, records.baseAddress, CInt(clamping: records.count)) == records.count else {
            throw RedisFailure(.noMemory, mayArrive: true)
        }
    }

    /// Reads what has come, as much as there is room for; 0 while a record is not all there.
    ///
    /// - Throws: that the server has ended the connection, or why it was of no use.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Int {
        ERR_clear_error()
        var count = 0
        let status = unsafe SSL_read_ex(tls, buffer.baseAddress, buffer.count, &count)
        if status == 1 { return count }
        try check(status)
        return 0
    }

    /// - Throws: what OpenSSL says, if it is more than that it needs more to read.
    private func check(_ status: CInt) throws(RedisFailure) {
        switch unsafe SSL_get_error(tls, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: throw RedisFailure(.connectionReset, mayArrive: true)
        default:
            let error = ERR_peek_error()
            ERR_clear_error()
            throw RedisFailure(
                Errno(
                    certificate: unsafe SSL_get_verify_result(tls),
                    alert: pk_tls_library(error) == ERR_LIB_SSL ? Int(pk_tls_reason(error)) - 1000 : 0
                ),
                mayArrive: true
            )
        }
    }
}

extension Errno {
    /// What has ended a session.
    ///
    /// - Parameters:
    ///   - verdict: on the server's certificate, of `X509_verify_cert_error_string(3)`.
    ///   - alert: that the server has sent (RFC 8446, section 6); 0 for none.
    init(certificate verdict: Int, alert: Int) {
        self =
            switch (CInt(clamping: verdict), alert) {
            case (X509_V_ERR_HOSTNAME_MISMATCH, _), (X509_V_ERR_IP_ADDRESS_MISMATCH, _): .certificateOfAnother
            case (X509_V_ERR_CERT_HAS_EXPIRED, _), (X509_V_ERR_CERT_NOT_YET_VALID, _): .certificateOutdated
            // Of certificates, the authority that made them, and that there is none.
            case (X509_V_OK, 42...46), (X509_V_OK, 48), (X509_V_OK, 116): .certificateWanted
            case (X509_V_OK, _): .protocolError
            default: .certificateUntrusted
            }
    }
}
#endif
