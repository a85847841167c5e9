#include "raw.h"

#include <signal.h>

int main(int argc, char **argv) {
    PeerOptions options = peer_options(argc, argv);
    if (options.size + STREAM_HEADER > LARGEST_FRAME) peer_fail("no payloads of more than %d bytes", LARGEST_FRAME);
    signal(SIGPIPE, SIG_IGN);
    if (options.identity) use_tls(options.identity);
    switch (options.command) {
    case PEER_SERVE: serve(&options); break;
    case PEER_LATENCY:
        if (options.pace) measure_paced_latency(&options);
        else measure_latency(&options);
        break;
    case PEER_THROUGHPUT:
        if (options.udp) measure_datagram_throughput(&options);
        else measure_stream_throughput(&options);
        break;
    case PEER_HELLOS: flood_with_hellos(&options); break;
    }
    return 0;
}
