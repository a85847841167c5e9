#include "peer.h"

void serve_sink(nng_socket socket) {
    PeerSink sink = {0};
    for (;;) {
        nng_msg *message;
        check(nng_recvmsg(socket, &message, 0), "nng_recvmsg");
        if (peer_sink_take(&sink, nng_msg_body(message), nng_msg_len(message)) != PEER_VALUE) {
            check(nng_send(socket, &sink.report, sizeof sink.report, 0), "nng_send");
        }
        nng_msg_free(message);
    }
}

static PeerReport exchange_mark(nng_socket socket, uint64_t mark) {
    nng_msg *message = new_message(PEER_MARK_SIZE);
    peer_mark_write(nng_msg_body(message), mark, 0);
    check(nng_sendmsg(socket, message, 0), "nng_sendmsg");
    PeerReport report;
    size_t size = sizeof report;
    check(nng_recv(socket, &report, &size, 0), "nng_recv");
    if (size != sizeof report || report.mark != mark) peer_fail("no answer to a mark");
    return report;
}

static uint64_t flood(nng_socket socket, size_t size, uint64_t nanoseconds) {
    uint64_t sequence = 0;
    for (uint64_t end = peer_now() + nanoseconds; sequence % 16 != 0 || peer_now() < end; sequence++) {
        nng_msg *message = new_message(size);
        peer_payload_write(nng_msg_body(message), size, sequence);
        check(nng_sendmsg(socket, message, 0), "nng_sendmsg");
    }
    return sequence;
}

void measure_throughput(nng_socket socket, const PeerOptions *options) {
    exchange_mark(socket, PEER_MARK_START);
    flood(socket, options->size, PEER_WARM_UP_NANOSECONDS);
    exchange_mark(socket, PEER_MARK_START);
    double start = peer_processor_time();
    uint64_t sent = flood(socket, options->size, (uint64_t)(options->seconds * 1e9));
    PeerReport report = exchange_mark(socket, PEER_MARK_END);
    peer_report_print(&report, options->size, sent, peer_processor_time() - start);
}
