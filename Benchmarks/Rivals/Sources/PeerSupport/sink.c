#include "PeerSupport.h"

#include <stdio.h>

PeerArrival peer_sink_mark(PeerSink *sink, uint64_t mark) {
    if (mark == PEER_MARK_START) {
        *sink = (PeerSink){
            .report.mark = mark,
            .counting = true,
            .unordered = sink->unordered,
            .processor_time_at_start = peer_processor_time(),
        };
        return PEER_START;
    }
    // Over UDP the end mark is repeated until the report arrives; the books stay closed.
    if (sink->counting) {
        uint64_t end = sink->last ? sink->last : peer_now();
        sink->counting = false;
        sink->report.mark = mark;
        sink->report.nanoseconds = sink->first && end > sink->first ? end - sink->first : 0;
        sink->report.processor_time = peer_processor_time() - sink->processor_time_at_start;
    }
    return PEER_END;
}

void peer_sink_refuse(const PeerSink *sink, const void *bytes, size_t size) {
    if (size < 8) peer_fail("a payload of %zu bytes arrived, too short for a sequence number", size);
    peer_fail(
        "a payload of %zu bytes is not what was sent: sequence number %llu where %llu was due", size,
        (unsigned long long)peer_load(bytes), (unsigned long long)sink->expected);
}

void peer_report_print(const PeerReport *report, size_t size, uint64_t sent, double sender_processor_time) {
    double seconds = (double)report->nanoseconds / 1e9;
    double rate = seconds > 0 ? (double)report->messages / seconds : 0;
    // What was lost at the very end leaves no gap, so that the sender's own count is what counts.
    uint64_t lost = sent > report->messages ? sent - report->messages : report->lost;
    printf(
        "{\"messages\":%llu,\"seconds\":%.6f,\"messagesPerSecond\":%.1f,\"bytesPerSecond\":%.1f,\"sent\":%llu,"
        "\"lost\":%llu,\"senderProcessorTime\":%.6f,\"receiverProcessorTime\":%.6f}\n",
        (unsigned long long)report->messages, seconds, rate, rate * (double)size, (unsigned long long)sent,
        (unsigned long long)lost, sender_processor_time, report->processor_time);
    fflush(stdout);
}
