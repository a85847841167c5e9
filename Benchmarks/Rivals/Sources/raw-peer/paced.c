#include "raw.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// How long after the preparations the first message is due, in nanoseconds.
enum { START_TIME = 1000000 };

/// The state that the sender and the reader share.
typedef struct {
    int descriptor;
    /// Bytes of a payload.
    size_t size;
    /// Messages, with those of the warm-up.
    uint64_t count;
    uint64_t begin;
    /// Nanoseconds from one message to the next.
    uint64_t period;
    /// The number of the next message, which is the sender's own.
    uint64_t next;
    /// When each message was sent.
    _Atomic uint64_t *sent;
    char frame[LARGEST_FRAME];
} Run;

static void send_next(Run *run) {
    peer_payload_write(run->frame + STREAM_HEADER, run->size, run->next);
    run->sent[run->next++] = peer_now();
    write_all(run->descriptor, run->frame, STREAM_HEADER + run->size);
}

static void *send_all(void *argument) {
    Run *run = argument;
    for (uint64_t due = run->begin; run->next < run->count; due += run->period) {
        peer_sleep_until(due);
        send_next(run);
    }
    return NULL;
}

static void start_thread(Run *run) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, send_all, run) != 0) peer_fail("cannot start a thread");
    pthread_detach(thread);
}

static struct timespec timespec_of(uint64_t nanoseconds) {
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
}

static int start_timer(const Run *run) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec times = {.it_value = timespec_of(run->begin), .it_interval = timespec_of(run->period)};
    if (timer < 0 || timerfd_settime(timer, TFD_TIMER_ABSTIME, &times, NULL) != 0) peer_fail("timerfd: %m");
    return timer;
}

/// Sends what is due, of which there is more than one message if the loop was late.
static void send_due(Run *run, int timer) {
    uint64_t due;
    if (read(timer, &due, sizeof due) != sizeof due) peer_fail("timerfd: %m");
    for (; due > 0 && run->next < run->count; due--) send_next(run);
}

/// Reads once and takes the time of every whole answer.
static void read_answers(const Run *run, uint64_t *answered, uint64_t warm_up, PeerSamples *samples) {
    static char buffer[BUFFER_SIZE];
    static size_t filled;
    size_t size = STREAM_HEADER + run->size, start = 0;
    ssize_t count = read_some(run->descriptor, buffer + filled, sizeof buffer - filled);
    if (count < 0) peer_fail("read: %m");
    if (count == 0) peer_fail("the server closed the connection");
    for (filled += (size_t)count; filled - start >= size; start += size, *answered += 1) {
        uint64_t now = peer_now();
        if (!peer_payload_is(buffer + start + STREAM_HEADER, run->size, *answered)) {
            peer_fail("the answer to message %llu is not what was sent", (unsigned long long)*answered);
        }
        if (*answered >= warm_up) peer_samples_add(samples, now - run->sent[*answered]);
    }
    filled -= start;
    if (start > 0 && filled > 0) memmove(buffer, buffer + start, filled);
}

void measure_paced_latency(const PeerOptions *options) {
    static Run run;
    int timer = -1, descriptor = connect_socket(options), poll = watch(&descriptor, 1);
    run.descriptor = descriptor;
    run.size = options->size;
    run.count = options->warm_up + options->count;
    run.period = (uint64_t)(1e9 / options->rate);
    size_t size = run.count * sizeof *run.sent;
    run.sent = malloc(size);
    if (!run.sent) peer_fail("no memory for %llu messages", (unsigned long long)run.count);
    // No page fault falls into a measurement.
    memset(run.sent, 0, size);
    write_header(run.frame, options->size);
    PeerSamples samples = peer_samples_create(options->count);
    run.begin = peer_now() + START_TIME;
    if (options->pace == PEER_PACE_TIMER) add_watch(poll, timer = start_timer(&run));
    else start_thread(&run);
    for (uint64_t answered = 0; answered < run.count;) {
        struct epoll_event events[2];
        int count = epoll_wait(poll, events, 2, -1);
        for (int index = 0; index < count; index++) {
            if (events[index].data.fd == timer) send_due(&run, timer);
            else read_answers(&run, &answered, options->warm_up, &samples);
        }
    }
    peer_samples_print(&samples, 0);
}
