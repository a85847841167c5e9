/// ZeroMQ: REQ/REP for round trips, PUSH/PULL for throughput, over tcp:// with the default high-water marks.
#ifndef ZMQ_PEER_H
#define ZMQ_PEER_H

#include "PeerSupport.h"

#include <zmq.h>

/// A socket that is bound to any free port of 127.0.0.1, or to this one.
void *bound_socket(void *context, int type, int port, int *bound_port);
/// A socket that is connected to a port of 127.0.0.1.
void *connected_socket(void *context, int type, int port);
/// Ends the process with ZeroMQ's own words if a call failed.
void check(bool succeeded, const char *what);

void serve_echo(void *context, const PeerOptions *options);
void serve_sink(void *context, const PeerOptions *options);
void measure_latency(void *context, const PeerOptions *options);
void measure_throughput(void *context, const PeerOptions *options);

#endif
