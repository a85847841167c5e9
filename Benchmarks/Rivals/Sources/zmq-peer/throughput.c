#include "peer.h"

void serve_sink(void *context, const PeerOptions *options) {
    int port;
    void *socket = bound_socket(context, ZMQ_PULL, options->port, &port), *reports = NULL;
    peer_print_listening(port);
    PeerSink sink = {0};
    zmq_msg_t message;
    check(zmq_msg_init(&message) == 0, "zmq_msg_init");
    for (;;) {
        check(zmq_msg_recv(&message, socket, 0) >= 0, "zmq_msg_recv");
        char *bytes = zmq_msg_data(&message);
        if (peer_sink_take(&sink, bytes, zmq_msg_size(&message)) == PEER_VALUE) continue;
        // A mark says at which port the sender wants the report: PUSH and PULL go one way only.
        if (!reports) reports = connected_socket(context, ZMQ_PUSH, (int)peer_load(bytes + 8));
        check(zmq_send(reports, &sink.report, sizeof sink.report, 0) >= 0, "zmq_send");
    }
}

typedef struct {
    void *values;
    void *reports;
    int report_port;
} Sender;

static PeerReport exchange_mark(const Sender *sender, uint64_t mark) {
    char bytes[PEER_MARK_SIZE];
    PeerReport report;
    peer_mark_write(bytes, mark, (uint64_t)sender->report_port);
    check(zmq_send(sender->values, bytes, sizeof bytes, 0) >= 0, "zmq_send");
    check(zmq_recv(sender->reports, &report, sizeof report, 0) == sizeof report, "zmq_recv");
    if (report.mark != mark) peer_fail("no answer to a mark");
    return report;
}

static uint64_t flood(const Sender *sender, size_t size, uint64_t nanoseconds) {
    uint64_t sequence = 0;
    // The clock is looked at every 16 messages: it costs as much as a message.
    for (uint64_t end = peer_now() + nanoseconds; sequence % 16 != 0 || peer_now() < end; sequence++) {
        zmq_msg_t message;
        check(zmq_msg_init_size(&message, size) == 0, "zmq_msg_init_size");
        peer_payload_write(zmq_msg_data(&message), size, sequence);
        check(zmq_msg_send(&message, sender->values, 0) >= 0, "zmq_msg_send");
    }
    return sequence;
}

void measure_throughput(void *context, const PeerOptions *options) {
    Sender sender = {.values = connected_socket(context, ZMQ_PUSH, options->port)};
    sender.reports = bound_socket(context, ZMQ_PULL, 0, &sender.report_port);
    exchange_mark(&sender, PEER_MARK_START);
    flood(&sender, options->size, PEER_WARM_UP_NANOSECONDS);
    exchange_mark(&sender, PEER_MARK_START);
    double start = peer_processor_time();
    uint64_t sent = flood(&sender, options->size, (uint64_t)(options->seconds * 1e9));
    PeerReport report = exchange_mark(&sender, PEER_MARK_END);
    peer_report_print(&report, options->size, sent, peer_processor_time() - start);
}
