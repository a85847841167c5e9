#include "raw.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/// How long an answer may take, in milliseconds: a datagram may be lost.
enum { PATIENCE = 1000 };
/// Nanoseconds before a round trip is due from which on the clock is watched: a timer is late by some microseconds.
enum { WATCH_TIME = 150000 };

/// Waits for an answer; false when none comes.
static bool receive(int poll, int descriptor, const PeerOptions *options, char *bytes, size_t size) {
    bool udp = options->udp;
    struct epoll_event event;
    int count;
    if (options->spin) {
        uint64_t end = peer_now() + PATIENCE * 1000000ull;
        while ((count = epoll_wait(poll, &event, 1, 0)) == 0 && !(udp && peer_now() > end)) sched_yield();
    } else {
        while ((count = epoll_wait(poll, &event, 1, udp ? PATIENCE : -1)) < 0 && errno == EINTR) {}
    }
    if (count < 0) peer_fail("epoll_wait: %m");
    if (count == 0) return false;
    ssize_t received = read_some(descriptor, bytes, size);
    if (received < 0) peer_fail("read: %m");
    if (received == 0) peer_fail("the server closed the connection");
    if ((size_t)received < size && !udp) read_all(descriptor, bytes + received, size - (size_t)received);
    return true;
}

/// Waits until a round trip is due.
static void wait_until(uint64_t due, int poll, bool spin) {
    struct epoll_event event;
    uint64_t now = peer_now();
    if (spin) {
        while (peer_now() + WATCH_TIME < due) {
            epoll_wait(poll, &event, 1, 0);
            sched_yield();
        }
    } else if (due > now + WATCH_TIME) {
        uint64_t rest = due - now - WATCH_TIME;
        struct timespec time = {.tv_sec = rest / 1000000000, .tv_nsec = rest % 1000000000};
        nanosleep(&time, NULL);
    }
    while (peer_now() < due) {}
}

void measure_latency(const PeerOptions *options) {
    int descriptor = connect_socket(options), poll = watch(&descriptor, 1);
    size_t header = options->udp ? DATAGRAM_HEADER : STREAM_HEADER, size = header + options->size;
    char sent[LARGEST_FRAME], received[LARGEST_FRAME];
    write_datagram_header(sent, options->size);
    PeerSamples samples = peer_samples_create(options->count);
    uint64_t lost = 0, begin = peer_now();
    for (uint64_t sequence = 0; sequence < options->warm_up + options->count; sequence++) {
        peer_payload_write(sent + header, options->size, sequence);
        uint64_t start;
        if (options->rate > 0) {
            start = begin + (uint64_t)((double)sequence * 1e9 / options->rate);
            wait_until(start, poll, options->spin);
        } else {
            start = peer_now();
        }
        write_all(descriptor, sent, size);
        bool answered;
        // An answer that comes after it was given up is passed over.
        do {
            answered = receive(poll, descriptor, options, received, size);
        } while (answered && options->udp && peer_load(received + header) < sequence);
        uint64_t end = peer_now();
        if (!answered) {
            lost += 1;
        } else if (!peer_payload_is(received + header, options->size, sequence)) {
            peer_fail("the answer to message %llu is not what was sent", (unsigned long long)sequence);
        } else if (sequence >= options->warm_up) {
            peer_samples_add(&samples, end - start);
        }
    }
    peer_samples_print(&samples, lost);
}
