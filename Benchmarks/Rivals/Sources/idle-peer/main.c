// Opens many connections to a service of the framework, speaks its handshake, and keeps them idle: what does a
// connection cost that nobody uses, and how long does it take until one can be used?

#include "PeerSupport.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/// The identifiers of the framework's system elements; see the documentation's page on the wire.
enum { UDP_IDENTIFIER = -1, DEVICE_NAME = -2, SHUTDOWN = -3, HELLO = -4 };
enum { HEADER = 5, HELLO_SIZE = 7, BUFFER_SIZE = 4096 };

static void allow_descriptors(size_t count) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) peer_fail("getrlimit: %m");
    if (limit.rlim_cur >= count) return;
    if (limit.rlim_max < count) peer_fail("%zu connections need RLIMIT_NOFILE %zu", count, count);
    limit.rlim_cur = count;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) peer_fail("setrlimit: %m");
}

static size_t write_frame(char *bytes, int id, const void *value, uint32_t size) {
    uint32_t length = htole32(size);
    bytes[0] = (char)id;
    memcpy(bytes + 1, &length, sizeof length);
    memcpy(bytes + HEADER, value, size);
    return HEADER + size;
}

/// Whether both of the service's first frames are there whole: the UDP identifier and the hello.
static bool is_ready(const char *bytes, size_t size) {
    bool has_identifier = false, has_hello = false;
    while (size >= HEADER) {
        uint32_t length;
        memcpy(&length, bytes + 1, sizeof length);
        length = le32toh(length);
        if (size - HEADER < length) break;
        if (bytes[0] == UDP_IDENTIFIER && length == 1) has_identifier = true;
        else if (bytes[0] == HELLO && length >= HELLO_SIZE) has_hello = true;
        else if (bytes[0] == SHUTDOWN) peer_fail("the service refused: %.*s", (int)length, bytes + HEADER);
        else peer_fail("the service began with element %d of %u bytes", bytes[0], length);
        bytes += HEADER + length;
        size -= HEADER + length;
    }
    return has_identifier && has_hello;
}

static int connect_device(int port, size_t number) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) peer_fail("socket: %m");
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) peer_fail("connect: %m");
    char bytes[256], name[64];
    int length = snprintf(name, sizeof name, "idle %zu", number);
    // Version 1, which takes empty values; no catalogue and no datagrams are wanted.
    const char hello[HELLO_SIZE] = {1, 1};
    size_t size = write_frame(bytes, DEVICE_NAME, name, (uint32_t)length);
    size += write_frame(bytes + size, HELLO, hello, HELLO_SIZE);
    if (write(descriptor, bytes, size) != (ssize_t)size) peer_fail("write: %m");
    return descriptor;
}

static void wait_until_ready(int descriptor) {
    char bytes[BUFFER_SIZE];
    size_t size = 0;
    do {
        ssize_t count = read(descriptor, bytes + size, sizeof bytes - size);
        if (count <= 0) peer_fail("the service closed a connection: %m");
        size += (size_t)count;
    } while (!is_ready(bytes, size));
}

int main(int argc, char **argv) {
    int port = argc == 3 ? atoi(argv[1]) : 0, count = argc == 3 ? atoi(argv[2]) : 0;
    if (port < 1 || port > 65535 || count < 1) {
        fprintf(stderr, "Usage: idle-peer PORT CONNECTIONS\n");
        return 64;
    }
    allow_descriptors((size_t)count + 64);
    int *descriptors = malloc((size_t)count * sizeof(int));
    PeerSamples samples = peer_samples_create((size_t)count);
    for (int index = 0; index < count; index++) {
        uint64_t start = peer_now();
        descriptors[index] = connect_device(port, (size_t)index);
        wait_until_ready(descriptors[index]);
        peer_samples_add(&samples, peer_now() - start);
    }
    peer_samples_print(&samples, 0);
    while (!peer_input_ended()) {}
    // Nobody may have been dropped meanwhile.
    int closed = 0;
    char byte;
    for (int index = 0; index < count; index++) {
        if (recv(descriptors[index], &byte, 1, MSG_DONTWAIT) == 0) closed += 1;
    }
    if (closed > 0) peer_fail("%d of %d idle connections were closed by the service", closed, count);
    return 0;
}
