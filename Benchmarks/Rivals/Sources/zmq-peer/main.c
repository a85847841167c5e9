#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void check(bool succeeded, const char *what) {
    if (!succeeded) peer_fail("%s: %s", what, zmq_strerror(errno));
}

void *bound_socket(void *context, int type, int port, int *bound_port) {
    char endpoint[64];
    void *socket = zmq_socket(context, type);
    check(socket, "zmq_socket");
    // Port 0 is "any" to ZeroMQ as well.
    snprintf(endpoint, sizeof endpoint, "tcp://127.0.0.1:%d", port);
    check(zmq_bind(socket, endpoint) == 0, "zmq_bind");
    size_t size = sizeof endpoint;
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0, "ZMQ_LAST_ENDPOINT");
    *bound_port = atoi(strrchr(endpoint, ':') + 1);
    return socket;
}

void *connected_socket(void *context, int type, int port) {
    char endpoint[64];
    void *socket = zmq_socket(context, type);
    check(socket, "zmq_socket");
    snprintf(endpoint, sizeof endpoint, "tcp://127.0.0.1:%d", port);
    check(zmq_connect(socket, endpoint) == 0, "zmq_connect");
    return socket;
}

int main(int argc, char **argv) {
    PeerOptions options = peer_options(argc, argv);
    if (options.udp) peer_fail("there is no UDP here");
    if (options.command == PEER_SERVE) peer_end_when_told();
    void *context = zmq_ctx_new();
    check(context, "zmq_ctx_new");
    switch (options.command) {
    case PEER_SERVE:
        if (options.sink) serve_sink(context, &options);
        else serve_echo(context, &options);
        break;
    case PEER_LATENCY: measure_latency(context, &options); break;
    case PEER_THROUGHPUT: measure_throughput(context, &options); break;
    }
    return 0;
}
