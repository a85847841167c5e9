/// What every contender of the comparison shares: clock, samples, options, payloads, and the counting of what arrives.
#ifndef PEER_SUPPORT_H
#define PEER_SUPPORT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Clock

/// Nanoseconds of the monotonic clock.
uint64_t peer_now(void);
/// Sleeps until this time of the monotonic clock.
void peer_sleep_until(uint64_t time);
/// Seconds of processor time that this process has used, in all its threads, in user and kernel mode.
double peer_processor_time(void);

// Ending

/// Writes a message to standard error and ends the process with status 1.
void peer_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/// Ends the process by `exit(0)` from a thread of its own when standard input ends or on SIGTERM or SIGINT.
/// To be called before other threads start, so that they inherit the blocked signals.
void peer_end_when_told(void);
/// A descriptor that becomes readable on SIGTERM or SIGINT, which are blocked from now on.
int peer_signal_descriptor(void);
/// Reads what there is at standard input; true when it has ended.
bool peer_input_ended(void);

// Options

typedef enum { PEER_SERVE, PEER_LATENCY, PEER_THROUGHPUT, PEER_HELLOS } PeerCommand;

/// The sender of round trips at a rate.
typedef enum {
    /// The thread that waits for the answers, which watches the clock: each round trip is timed from when it is due.
    PEER_PACE_CLOCK,
    /// A timer of the event loop that reads the answers. From here on each round trip is timed from just before its send.
    PEER_PACE_TIMER,
    /// A second thread, which sleeps.
    PEER_PACE_THREAD,
    /// A task of the language, which sleeps; a second thread where the language has none.
    PEER_PACE_TASK,
} PeerPace;

typedef struct {
    PeerCommand command;
    /// Over UDP rather than TCP.
    bool udp;
    /// `serve`: counts what arrives rather than sending it back.
    bool sink;
    /// `throughput`: one write(2) a message rather than large writes.
    bool write_one;
    /// A PEM file with a key and a certificate: both ends speak TLS 1.3 with it and want one of the other. NULL: no TLS.
    const char *identity;
    int port;
    /// Bytes of a payload.
    size_t size;
    uint64_t warm_up;
    uint64_t count;
    double seconds;
    /// `hellos`: connections a second; `latency`: round trips a second, or 0 for one after the other.
    double rate;
    /// `latency` at a rate.
    PeerPace pace;
    /// `serve` and `latency`: looks at the sockets again and again rather than sleeping.
    bool spin;
} PeerOptions;

/// Reads the command line. Prints the usage and ends the process where it makes no sense.
PeerOptions peer_options(int argc, char **argv);
/// Tells on standard output that the server listens.
void peer_print_listening(int port);

// Samples

typedef struct {
    uint64_t *values;
    size_t count;
    size_t capacity;
} PeerSamples;

/// Room for `capacity` durations, touched already so that no page fault falls into a measurement.
PeerSamples peer_samples_create(size_t capacity);
/// Sorts, and prints the percentiles in microseconds as one line of JSON.
void peer_samples_print(PeerSamples *samples, uint64_t lost);

static inline void peer_samples_add(PeerSamples *samples, uint64_t nanoseconds) {
    if (samples->count < samples->capacity) samples->values[samples->count++] = nanoseconds;
}

// Payloads
//
// The first 8 bytes hold the sequence number, and so do the last 8 of a payload of 16 bytes or more. Marks are payloads
// of 16 bytes whose sequence number is one of the highest.

#define PEER_MARK_START UINT64_MAX
#define PEER_MARK_END (UINT64_MAX - 1)
#define PEER_MARK_SIZE 16
/// How long a sender floods before it counts, in nanoseconds.
#define PEER_WARM_UP_NANOSECONDS 300000000ull

static inline uint64_t peer_load(const void *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

static inline void peer_store(void *bytes, uint64_t value) {
    value = htole64(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void peer_payload_write(void *bytes, size_t size, uint64_t sequence) {
    peer_store(bytes, sequence);
    if (size >= 16) peer_store((char *)bytes + size - 8, sequence);
}

static inline bool peer_payload_is(const void *bytes, size_t size, uint64_t sequence) {
    return size >= 8 && peer_load(bytes) == sequence && (size < 16 || peer_load((const char *)bytes + size - 8) == sequence);
}

/// Writes a mark, with a number for the receiver (0 where there is nothing to say).
static inline void peer_mark_write(void *bytes, uint64_t mark, uint64_t argument) {
    peer_store(bytes, mark);
    peer_store((char *)bytes + 8, argument);
}

// The receiver's books

/// What the receiver tells the sender after each mark; as it lies in memory, since both run on one machine.
typedef struct {
    /// The mark that this answers.
    uint64_t mark;
    uint64_t messages;
    uint64_t lost;
    /// From the first counted message to the end.
    uint64_t nanoseconds;
    double processor_time;
} PeerReport;

typedef struct {
    PeerReport report;
    bool counting;
    /// Over UDP: a message may be overtaken by the next one.
    bool unordered;
    /// The sequence number due next.
    uint64_t expected;
    uint64_t first;
    /// The time of the last message where the transport may lose the end mark, otherwise 0.
    uint64_t last;
    double processor_time_at_start;
} PeerSink;

typedef enum { PEER_VALUE, PEER_START, PEER_END } PeerArrival;

/// Begins or ends the counting.
PeerArrival peer_sink_mark(PeerSink *sink, uint64_t mark);
/// Ends the process: a payload is not what was sent.
void peer_sink_refuse(const PeerSink *sink, const void *bytes, size_t size) __attribute__((noreturn));

/// Checks a payload that has arrived and enters it into the books.
static inline PeerArrival peer_sink_take(PeerSink *sink, const void *bytes, size_t size) {
    if (size < 8) peer_sink_refuse(sink, bytes, size);
    uint64_t sequence = peer_load(bytes);
    if (sequence >= PEER_MARK_END) return peer_sink_mark(sink, sequence);
    if (size >= 16 && peer_load((const char *)bytes + size - 8) != sequence) peer_sink_refuse(sink, bytes, size);
    if (sequence >= sink->expected) {
        sink->report.lost += sequence - sink->expected;
        sink->expected = sequence + 1;
    } else if (sink->unordered && sink->report.lost > 0) {
        sink->report.lost -= 1;
    } else {
        peer_sink_refuse(sink, bytes, size);
    }
    if (sink->report.messages++ == 0) sink->first = peer_now();
    return PEER_VALUE;
}

/// Prints what a throughput run gave, as one line of JSON.
void peer_report_print(const PeerReport *report, size_t size, uint64_t sent, double sender_processor_time);

#endif
