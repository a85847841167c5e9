#include "raw.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/// A connected sender: what has arrived of the next frame, and the books.
typedef struct {
    size_t filled;
    PeerSink sink;
    char buffer[BUFFER_SIZE];
} Connection;

static Connection *connections[MAXIMUM_DESCRIPTOR];

static void close_connection(int descriptor) {
    free(connections[descriptor]);
    connections[descriptor] = NULL;
    end_tls(descriptor);
    close(descriptor);
}

static void answer(int descriptor, const PeerSink *sink) {
    char frame[STREAM_HEADER + sizeof(PeerReport)];
    write_header(frame, sizeof(PeerReport));
    memcpy(frame + STREAM_HEADER, &sink->report, sizeof(PeerReport));
    write_all(descriptor, frame, sizeof frame);
}

/// Reads once and takes every whole frame.
static void read_connection(int descriptor, bool is_sink) {
    Connection *connection = connections[descriptor];
    char *buffer = connection->buffer;
    ssize_t count = read_some(descriptor, buffer + connection->filled, BUFFER_SIZE - connection->filled);
    if (count <= 0) {
        if (count == 0 || errno != EINTR) close_connection(descriptor);
        return;
    }
    size_t end = connection->filled + (size_t)count, start = 0;
    while (end - start >= STREAM_HEADER) {
        size_t length = header_length(buffer + start);
        if (buffer[start] != ID || length + STREAM_HEADER > LARGEST_FRAME) peer_fail("not a frame of this wire");
        if (end - start < STREAM_HEADER + length) break;
        if (is_sink) {
            const char *payload = buffer + start + STREAM_HEADER;
            if (peer_sink_take(&connection->sink, payload, length) != PEER_VALUE) {
                answer(descriptor, &connection->sink);
            }
        } else {
            write_all(descriptor, buffer + start, STREAM_HEADER + length);
        }
        start += STREAM_HEADER + length;
    }
    connection->filled = end - start;
    if (start > 0 && start < end) memmove(buffer, buffer + start, end - start);
}

/// Takes what has been read from the socket and lies within TLS, of which the kernel does not know.
static void read_pending(int descriptor, bool is_sink) {
    while (connections[descriptor] && has_pending(descriptor)) read_connection(descriptor, is_sink);
}

static void accept_connection(int listener, int poll, bool is_sink) {
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) return;
    if (descriptor >= MAXIMUM_DESCRIPTOR) peer_fail("too many connections");
    set_no_delay(descriptor);
    begin_tls(descriptor, true);
    connections[descriptor] = calloc(1, sizeof(Connection));
    if (!connections[descriptor]) peer_fail("no memory for a connection");
    add_watch(poll, descriptor);
    // The first frames may have come with the end of the handshake.
    read_pending(descriptor, is_sink);
}

/// Takes all datagrams that have arrived, one a call.
static void read_datagrams(int descriptor, bool is_sink, PeerSink *sink) {
    static char buffer[65536];
    char frame[DATAGRAM_HEADER + sizeof(PeerReport)];
    struct sockaddr_storage sender;
    for (;;) {
        socklen_t length = sizeof sender;
        ssize_t count = recvfrom(
            descriptor, buffer, sizeof buffer, MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
        if (count < 0) return;
        if (count < DATAGRAM_HEADER || header_length(buffer) != (size_t)count - DATAGRAM_HEADER) {
            peer_fail("not a datagram of this wire");
        }
        if (!is_sink) {
            sendto(descriptor, buffer, (size_t)count, 0, (struct sockaddr *)&sender, length);
            // The next one comes only after this answer.
            return;
        }
        if (peer_sink_take(sink, buffer + DATAGRAM_HEADER, (size_t)count - DATAGRAM_HEADER) == PEER_VALUE) {
            sink->last = peer_now();
            continue;
        }
        write_datagram_header(frame, sizeof(PeerReport));
        memcpy(frame + DATAGRAM_HEADER, &sink->report, sizeof(PeerReport));
        sendto(descriptor, frame, sizeof frame, 0, (struct sockaddr *)&sender, length);
    }
}

void serve(const PeerOptions *options) {
    int signals = peer_signal_descriptor(), listener = listen_socket(options);
    int descriptors[] = {signals, listener, STDIN_FILENO};
    int poll = watch(descriptors, 3);
    PeerSink sink = {.unordered = true};
    for (;;) {
        struct epoll_event events[16];
        int count = epoll_wait(poll, events, 16, options->spin ? 0 : -1);
        if (count == 0) sched_yield();
        for (int index = 0; index < count; index++) {
            int descriptor = events[index].data.fd;
            if (descriptor == signals) return;
            if (descriptor == STDIN_FILENO) {
                if (peer_input_ended()) return;
            } else if (descriptor != listener) {
                read_connection(descriptor, options->sink);
                read_pending(descriptor, options->sink);
            } else if (options->udp) {
                read_datagrams(listener, options->sink, &sink);
            } else {
                accept_connection(listener, poll, options->sink);
            }
        }
    }
}
