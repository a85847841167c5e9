#include "raw.h"

#include <stdlib.h>

typedef struct {
    int descriptor;
    size_t frame_size;
    /// As many frames as go into one write.
    size_t frames;
    char *buffer;
    uint64_t sequence;
} Sender;

static PeerReport exchange_mark(Sender *sender, uint64_t mark) {
    char frame[STREAM_HEADER + sizeof(PeerReport)];
    write_header(frame, PEER_MARK_SIZE);
    peer_mark_write(frame + STREAM_HEADER, mark, 0);
    write_all(sender->descriptor, frame, STREAM_HEADER + PEER_MARK_SIZE);
    read_all(sender->descriptor, frame, sizeof frame);
    PeerReport report;
    memcpy(&report, frame + STREAM_HEADER, sizeof report);
    if (report.mark != mark) peer_fail("no answer to a mark");
    return report;
}

/// The frames' headers and contents lie in the buffer already; only the sequence numbers change.
static void flood(Sender *sender, uint64_t nanoseconds) {
    sender->sequence = 0;
    for (uint64_t end = peer_now() + nanoseconds; peer_now() < end;) {
        char *frame = sender->buffer;
        for (size_t index = 0; index < sender->frames; index++, frame += sender->frame_size) {
            peer_payload_write(frame + STREAM_HEADER, sender->frame_size - STREAM_HEADER, sender->sequence++);
        }
        write_all(sender->descriptor, sender->buffer, sender->frames * sender->frame_size);
    }
}

void measure_stream_throughput(const PeerOptions *options) {
    Sender sender = {.descriptor = connect_socket(options), .frame_size = STREAM_HEADER + options->size};
    sender.frames = options->write_one ? 1 : WRITE_SIZE / sender.frame_size;
    sender.buffer = calloc(sender.frames, sender.frame_size);
    if (!sender.buffer) peer_fail("no memory");
    for (size_t index = 0; index < sender.frames; index++) {
        write_header(sender.buffer + index * sender.frame_size, options->size);
    }
    exchange_mark(&sender, PEER_MARK_START);
    flood(&sender, PEER_WARM_UP_NANOSECONDS);
    exchange_mark(&sender, PEER_MARK_START);
    double start = peer_processor_time();
    flood(&sender, (uint64_t)(options->seconds * 1e9));
    PeerReport report = exchange_mark(&sender, PEER_MARK_END);
    peer_report_print(&report, options->size, sender.sequence, peer_processor_time() - start);
}
