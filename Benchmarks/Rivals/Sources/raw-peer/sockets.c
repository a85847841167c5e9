#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int open_socket(const PeerOptions *options) {
    int descriptor = socket(AF_INET, (options->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
    if (descriptor < 0) peer_fail("socket: %m");
    // As much as the framework asks for its datagrams; the kernel gives no more than net.core.rmem_max.
    int size = 1 << 20;
    if (options->udp) setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    return descriptor;
}

int listen_socket(const PeerOptions *options) {
    int descriptor = open_socket(options), on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = loopback(options->port);
    socklen_t length = sizeof address;
    if (bind(descriptor, (struct sockaddr *)&address, length) != 0) peer_fail("bind: %m");
    if (!options->udp && listen(descriptor, 128) != 0) peer_fail("listen: %m");
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) peer_fail("getsockname: %m");
    peer_print_listening(ntohs(address.sin_port));
    return descriptor;
}

int connect_socket(const PeerOptions *options) {
    int descriptor = open_socket(options);
    struct sockaddr_in address = loopback(options->port);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) peer_fail("connect: %m");
    if (!options->udp) {
        set_no_delay(descriptor);
        begin_tls(descriptor, false);
    }
    return descriptor;
}

void set_no_delay(int descriptor) {
    int on = 1;
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) peer_fail("TCP_NODELAY: %m");
}

void add_watch(int poll, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    // A file, such as /dev/null as standard input, cannot be watched and need not be.
    if (epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) != 0 && errno != EPERM) peer_fail("epoll_ctl: %m");
}

int watch(const int *descriptors, int count) {
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (poll < 0) peer_fail("epoll_create1: %m");
    for (int index = 0; index < count; index++) add_watch(poll, descriptors[index]);
    return poll;
}

void write_all(int descriptor, const void *bytes, size_t size) {
    const char *next = bytes;
    while (size > 0) {
        ssize_t written = write_some(descriptor, next, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) peer_fail("write: %m");
        next += written;
        size -= (size_t)written;
    }
}

void read_all(int descriptor, void *bytes, size_t size) {
    char *next = bytes;
    while (size > 0) {
        ssize_t count = read_some(descriptor, next, size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) peer_fail("read: %m");
        if (count == 0) peer_fail("the server closed the connection");
        next += count;
        size -= (size_t)count;
    }
}
