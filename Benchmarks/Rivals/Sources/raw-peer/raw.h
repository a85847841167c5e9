/// The limit: what plain C can do with the kernel's sockets and epoll, in our own envelopes.
#ifndef RAW_H
#define RAW_H

#include "PeerSupport.h"

/// TCP: id, length as 32 bits little-endian. UDP: the same and the UDP identifier.
#define STREAM_HEADER 5
#define DATAGRAM_HEADER 6
#define ID 1
/// Bytes of a large write at most, unless one frame is larger, and of the buffer that is read into. Larger ones gain
/// nothing: they leave the processor's cache.
#define WRITE_SIZE (128 * 1024)
#define BUFFER_SIZE (256 * 1024)
#define LARGEST_FRAME (100 * 1024)

int listen_socket(const PeerOptions *options);
int connect_socket(const PeerOptions *options);
void set_no_delay(int descriptor);
/// An epoll instance that watches these descriptors for input.
int watch(const int *descriptors, int count);
void add_watch(int poll, int descriptor);
/// Sends all of it, waiting where the peer is slow.
void write_all(int descriptor, const void *bytes, size_t size);
/// Reads exactly so many bytes.
void read_all(int descriptor, void *bytes, size_t size);

void serve(const PeerOptions *options);
void measure_latency(const PeerOptions *options);
void measure_stream_throughput(const PeerOptions *options);
void measure_datagram_throughput(const PeerOptions *options);

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
