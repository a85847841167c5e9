#include "raw.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

/// Sends a mark until it is answered: the answer comes after all that was sent before has been read or lost.
static PeerReport exchange_mark(int descriptor, uint64_t mark) {
    char frame[DATAGRAM_HEADER + PEER_MARK_SIZE], answer[DATAGRAM_HEADER + sizeof(PeerReport)];
    write_datagram_header(frame, PEER_MARK_SIZE);
    peer_mark_write(frame + DATAGRAM_HEADER, mark, 0);
    for (int attempt = 0; attempt < 500; attempt++) {
        send(descriptor, frame, sizeof frame, 0);
        struct pollfd event = {.fd = descriptor, .events = POLLIN};
        if (poll(&event, 1, 20) != 1) continue;
        PeerReport report;
        if (recv(descriptor, answer, sizeof answer, 0) != sizeof answer) continue;
        memcpy(&report, answer + DATAGRAM_HEADER, sizeof report);
        // A mark sent twice is answered twice, and the second answer may come only now.
        if (report.mark == mark) return report;
    }
    peer_fail("the server does not answer");
}

static uint64_t flood(int descriptor, char *frame, size_t size, uint64_t nanoseconds) {
    uint64_t sequence = 0;
    for (uint64_t end = peer_now() + nanoseconds; peer_now() < end;) {
        peer_payload_write(frame + DATAGRAM_HEADER, size, sequence);
        if (send(descriptor, frame, DATAGRAM_HEADER + size, 0) >= 0) sequence += 1;
        else if (errno != EINTR && errno != ENOBUFS) peer_fail("send: %m");
    }
    return sequence;
}

void measure_datagram_throughput(const PeerOptions *options) {
    static char frame[65536];
    int descriptor = connect_socket(options);
    write_datagram_header(frame, options->size);
    exchange_mark(descriptor, PEER_MARK_START);
    flood(descriptor, frame, options->size, PEER_WARM_UP_NANOSECONDS);
    exchange_mark(descriptor, PEER_MARK_START);
    double start = peer_processor_time();
    uint64_t sent = flood(descriptor, frame, options->size, (uint64_t)(options->seconds * 1e9));
    PeerReport report = exchange_mark(descriptor, PEER_MARK_END);
    peer_report_print(&report, options->size, sent, peer_processor_time() - start);
}
