/// nng: a pair (version 0) over tcp:// for round trips and throughput, with messages that are handed over, not copied.
#ifndef NNG_PEER_H
#define NNG_PEER_H

#include "PeerSupport.h"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>

/// Ends the process with nng's own words if a call failed.
void check(int error, const char *what);
/// A message of so many bytes.
nng_msg *new_message(size_t size);

void serve_echo(nng_socket socket);
void serve_sink(nng_socket socket);
void measure_latency(nng_socket socket, const PeerOptions *options);
void measure_throughput(nng_socket socket, const PeerOptions *options);

#endif
