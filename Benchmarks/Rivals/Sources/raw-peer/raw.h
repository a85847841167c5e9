/// The limit: what plain C can do with the kernel's sockets and epoll, in our own envelopes.
#ifndef RAW_H
#define RAW_H

#include "PeerSupport.h"

#include <sys/types.h>

/// TCP: id, length as 32 bits little-endian. UDP: the same and the UDP identifier.
#define STREAM_HEADER 5
#define DATAGRAM_HEADER 6
#define ID 1
/// Bytes of a large write at most, unless one frame is larger, and of the buffer that is read into. Larger ones gain
/// nothing: they leave the processor's cache.
#define WRITE_SIZE (128 * 1024)
#define BUFFER_SIZE (256 * 1024)
#define LARGEST_FRAME (100 * 1024)
/// The descriptors of a server's connections are smaller.
#define MAXIMUM_DESCRIPTOR 1024

int listen_socket(const PeerOptions *options);
int connect_socket(const PeerOptions *options);
void set_no_delay(int descriptor);
/// An epoll instance that watches these descriptors for input.
int watch(const int *descriptors, int count);
void add_watch(int poll, int descriptor);
/// From now on both ends of such connections speak TLS, with the key and certificate in this file.
void use_tls(const char *identity);
/// Makes the handshake of a connection, if TLS is used.
void begin_tls(int descriptor, bool is_server);
void end_tls(int descriptor);
/// Whether decrypted bytes, or those of the next record, are waiting in this process.
bool has_pending(int descriptor);
/// As read(2) and write(2), of what is inside TLS if that is used.
ssize_t read_some(int descriptor, void *bytes, size_t size);
ssize_t write_some(int descriptor, const void *bytes, size_t size);
/// The first message that a TLS client sends.
size_t client_hello(char *bytes, size_t size);
/// Sends all of it, waiting where the peer is slow.
void write_all(int descriptor, const void *bytes, size_t size);
/// Reads exactly so many bytes.
void read_all(int descriptor, void *bytes, size_t size);

void serve(const PeerOptions *options);
void measure_latency(const PeerOptions *options);
/// Round trips at a rate that a timer or a second thread sends.
void measure_paced_latency(const PeerOptions *options);
void measure_stream_throughput(const PeerOptions *options);
void measure_datagram_throughput(const PeerOptions *options);
void flood_with_hellos(const PeerOptions *options);

static inline void write_header(char *bytes, size_t length) {
    uint32_t size = htole32((uint32_t)length);
    bytes[0] = ID;
    memcpy(bytes + 1, &size, sizeof size);
}

static inline void write_datagram_header(char *bytes, size_t length) {
    write_header(bytes, length);
    bytes[5] = 0;
}

static inline size_t header_length(const char *bytes) {
    uint32_t size;
    memcpy(&size, bytes + 1, sizeof size);
    return le32toh(size);
}

#endif
