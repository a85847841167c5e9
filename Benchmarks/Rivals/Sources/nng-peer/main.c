#include "peer.h"

#include <stdio.h>

void check(int error, const char *what) {
    if (error != 0) peer_fail("%s: %s", what, nng_strerror(error));
}

nng_msg *new_message(size_t size) {
    nng_msg *message;
    check(nng_msg_alloc(&message, size), "nng_msg_alloc");
    return message;
}

static nng_socket open_socket(bool throughput) {
    nng_socket socket;
    check(nng_pair0_open(&socket), "nng_pair0_open");
    if (throughput) {
        // As many as nng's own perf tools give their throughput test.
        check(nng_socket_set_int(socket, NNG_OPT_RECVBUF, 128), "NNG_OPT_RECVBUF");
        check(nng_socket_set_int(socket, NNG_OPT_SENDBUF, 128), "NNG_OPT_SENDBUF");
    }
    // Otherwise messages of more than 1 MiB are refused.
    check(nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, 0), "NNG_OPT_RECVMAXSZ");
    return socket;
}

static void serve(const PeerOptions *options) {
    nng_socket socket = open_socket(options->sink);
    nng_listener listener;
    char address[64];
    snprintf(address, sizeof address, "tcp://127.0.0.1:%d", options->port);
    check(nng_listener_create(&listener, socket, address), "nng_listener_create");
    check(nng_listener_start(listener, 0), "nng_listener_start");
    int port = options->port;
    if (port == 0) check(nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port), "NNG_OPT_TCP_BOUND_PORT");
    peer_print_listening(port);
    if (options->sink) serve_sink(socket);
    else serve_echo(socket);
}

int main(int argc, char **argv) {
    PeerOptions options = peer_options(argc, argv);
    if (options.udp) peer_fail("there is no UDP here");
    if (options.command == PEER_SERVE) {
        peer_end_when_told();
        serve(&options);
        return 0;
    }
    nng_socket socket = open_socket(options.command == PEER_THROUGHPUT);
    char address[64];
    snprintf(address, sizeof address, "tcp://127.0.0.1:%d", options.port);
    check(nng_dial(socket, address, NULL, 0), "nng_dial");
    if (options.command == PEER_LATENCY) measure_latency(socket, &options);
    else measure_throughput(socket, &options);
    nng_close(socket);
    return 0;
}
