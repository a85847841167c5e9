#include "raw.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/// Connections that are open at a time: each is closed when so many others have been opened.
enum { OPEN = 64 };

/// Connects from an address of its own, as another host would, and does not wait for anything.
static int send_hello(const PeerOptions *options, const char *hello, size_t size) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) peer_fail("socket: %m");
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("127.0.0.9")};
    struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)options->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    // No TIME_WAIT: there would be no ports left.
    struct linger linger = {.l_onoff = 1};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    if (bind(descriptor, (struct sockaddr *)&own, sizeof own) != 0
        || connect(descriptor, (struct sockaddr *)&server, sizeof server) != 0
        || send(descriptor, hello, size, MSG_NOSIGNAL) != (ssize_t)size) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/// A flood of ClientHellos that never go on, at a steady rate, until the time is over or the process is ended.
void flood_with_hellos(const PeerOptions *options) {
    static char hello[4096];
    size_t size = client_hello(hello, sizeof hello);
    peer_end_when_told();
    int descriptors[OPEN];
    for (int index = 0; index < OPEN; index++) descriptors[index] = -1;
    uint64_t interval = (uint64_t)(1e9 / options->rate), start = peer_now(), count = 0;
    uint64_t end = start + (uint64_t)(options->seconds * 1e9);
    printf("{\"event\":\"flooding\"}\n");
    fflush(stdout);
    for (uint64_t due = start; due < end; due += interval) {
        peer_sleep_until(due);
        int *place = &descriptors[count % OPEN];
        if (*place >= 0) close(*place);
        *place = send_hello(options, hello, size);
        count += 1;
    }
    double seconds = (double)(peer_now() - start) / 1e9;
    printf("{\"hellos\":%llu,\"hellosPerSecond\":%.1f}\n", (unsigned long long)count, (double)count / seconds);
}
