#include "peer.h"

void serve_echo(nng_socket socket) {
    for (;;) {
        nng_msg *message;
        check(nng_recvmsg(socket, &message, 0), "nng_recvmsg");
        if (nng_msg_len(message) < 8) peer_fail("a message arrived that is too short for a sequence number");
        // Fails only when the client has gone.
        if (nng_sendmsg(socket, message, 0) != 0) nng_msg_free(message);
    }
}

void measure_latency(nng_socket socket, const PeerOptions *options) {
    PeerSamples samples = peer_samples_create(options->count);
    nng_msg *message = new_message(options->size);
    for (uint64_t sequence = 0; sequence < options->warm_up + options->count; sequence++) {
        peer_payload_write(nng_msg_body(message), options->size, sequence);
        uint64_t start = peer_now();
        check(nng_sendmsg(socket, message, 0), "nng_sendmsg");
        check(nng_recvmsg(socket, &message, 0), "nng_recvmsg");
        uint64_t end = peer_now();
        if (nng_msg_len(message) != options->size
            || !peer_payload_is(nng_msg_body(message), options->size, sequence)) {
            peer_fail("the answer to message %llu is not what was sent", (unsigned long long)sequence);
        }
        if (sequence >= options->warm_up) peer_samples_add(&samples, end - start);
    }
    nng_msg_free(message);
    peer_samples_print(&samples, 0);
}
