#include "raw.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <unistd.h>

static SSL_CTX *context;
static SSL *sessions[MAXIMUM_DESCRIPTOR];

/// Any key will do: what is measured is what it costs to look at one.
static int accept_any(int is_valid, X509_STORE_CTX *store) {
    (void)is_valid;
    (void)store;
    return 1;
}

void use_tls(const char *identity) {
    context = SSL_CTX_new(TLS_method());
    if (!context || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) peer_fail("OpenSSL has no TLS 1.3");
    if (SSL_CTX_use_certificate_file(context, identity, SSL_FILETYPE_PEM) != 1
        || SSL_CTX_use_PrivateKey_file(context, identity, SSL_FILETYPE_PEM) != 1) {
        peer_fail("%s: no key and certificate in PEM", identity);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, accept_any);
    // One read(2) for a record rather than one for its header and one for the rest.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE);
}

static SSL *session(int descriptor) { return descriptor < MAXIMUM_DESCRIPTOR ? sessions[descriptor] : NULL; }

void begin_tls(int descriptor, bool is_server) {
    if (!context) return;
    if (descriptor >= MAXIMUM_DESCRIPTOR) peer_fail("too many connections");
    SSL *session = sessions[descriptor] = SSL_new(context);
    if (!session || SSL_set_fd(session, descriptor) != 1) peer_fail("no memory for TLS");
    if ((is_server ? SSL_accept(session) : SSL_connect(session)) != 1) peer_fail("the TLS handshake failed");
}

void end_tls(int descriptor) {
    SSL_free(session(descriptor));
    if (descriptor < MAXIMUM_DESCRIPTOR) sessions[descriptor] = NULL;
}

bool has_pending(int descriptor) {
    SSL *tls = session(descriptor);
    return tls && SSL_has_pending(tls);
}

ssize_t read_some(int descriptor, void *bytes, size_t size) {
    SSL *tls = session(descriptor);
    if (!tls) return read(descriptor, bytes, size);
    size_t count;
    // The peer ended the connection, with or without a farewell.
    return SSL_read_ex(tls, bytes, size, &count) == 1 ? (ssize_t)count : 0;
}

ssize_t write_some(int descriptor, const void *bytes, size_t size) {
    SSL *tls = session(descriptor);
    if (!tls) return write(descriptor, bytes, size);
    size_t count;
    if (SSL_write_ex(tls, bytes, size, &count) == 1) return (ssize_t)count;
    errno = EPIPE;
    return -1;
}

size_t client_hello(char *bytes, size_t size) {
    static const unsigned char protocol[] = "\x0b" "elemental/1";
    SSL *session = SSL_new(context);
    BIO *input = BIO_new(BIO_s_mem()), *output = BIO_new(BIO_s_mem());
    if (!session || !input || !output) peer_fail("no memory for TLS");
    SSL_set_bio(session, input, output);
    SSL_set_alpn_protos(session, protocol, sizeof protocol - 1);
    SSL_connect(session);
    int count = BIO_read(output, bytes, (int)size);
    SSL_free(session);
    if (count <= 0) peer_fail("OpenSSL made no ClientHello");
    return (size_t)count;
}
