#include "peer.h"

void serve_echo(void *context, const PeerOptions *options) {
    int port;
    void *socket = bound_socket(context, ZMQ_REP, options->port, &port);
    peer_print_listening(port);
    // One message to and fro, as ZeroMQ's own local_lat does.
    zmq_msg_t message;
    check(zmq_msg_init(&message) == 0, "zmq_msg_init");
    for (;;) {
        check(zmq_msg_recv(&message, socket, 0) >= 0, "zmq_msg_recv");
        if (zmq_msg_size(&message) < 8) peer_fail("a message arrived that is too short for a sequence number");
        check(zmq_msg_send(&message, socket, 0) >= 0, "zmq_msg_send");
    }
}

void measure_latency(void *context, const PeerOptions *options) {
    void *socket = connected_socket(context, ZMQ_REQ, options->port);
    PeerSamples samples = peer_samples_create(options->count);
    zmq_msg_t message;
    check(zmq_msg_init_size(&message, options->size) == 0, "zmq_msg_init_size");
    for (uint64_t sequence = 0; sequence < options->warm_up + options->count; sequence++) {
        peer_payload_write(zmq_msg_data(&message), options->size, sequence);
        uint64_t start = peer_now();
        check(zmq_msg_send(&message, socket, 0) >= 0, "zmq_msg_send");
        check(zmq_msg_recv(&message, socket, 0) >= 0, "zmq_msg_recv");
        uint64_t end = peer_now();
        if (zmq_msg_size(&message) != options->size
            || !peer_payload_is(zmq_msg_data(&message), options->size, sequence)) {
            peer_fail("the answer to message %llu is not what was sent", (unsigned long long)sequence);
        }
        if (sequence >= options->warm_up) peer_samples_add(&samples, end - start);
    }
    peer_samples_print(&samples, 0);
}
