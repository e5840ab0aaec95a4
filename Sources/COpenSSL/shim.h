#ifndef PRESSUREKIT_COPENSSL_SHIM_H
#define PRESSUREKIT_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros, or casts, which Swift does not import.

/// What is older than TLS 1.2 is broken (RFC 8996).
static inline int pk_tls_refuse_old(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/// The name that the server chooses its certificate by (SNI, RFC 6066).
static inline int pk_tls_set_name(SSL *tls, const char *name) { return (int)SSL_set_tlsext_host_name(tls, name); }

/// The library and the reason of an error.
static inline int pk_tls_library(unsigned long error) { return ERR_GET_LIB(error); }
static inline int pk_tls_reason(unsigned long error) { return ERR_GET_REASON(error); }

static inline int pk_tls_no_password(char *buffer, int size, int writes, void *unused) {
    (void)buffer, (void)size, (void)writes, (void)unused;
    return -1;
}

/// A key with a password is refused: OpenSSL would ask for it on the terminal.
static inline void pk_tls_ask_nobody(SSL_CTX *context) { SSL_CTX_set_default_passwd_cb(context, pk_tls_no_password); }

#endif
