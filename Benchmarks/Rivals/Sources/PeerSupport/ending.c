#include "PeerSupport.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

void peer_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

int peer_signal_descriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int descriptor = signalfd(-1, &signals, SFD_CLOEXEC);
    if (descriptor < 0) peer_fail("signalfd: %m");
    return descriptor;
}

bool peer_input_ended(void) {
    char bytes[256];
    return read(STDIN_FILENO, bytes, sizeof bytes) <= 0;
}

static void *wait_for_end(void *argument) {
    struct pollfd events[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = (int)(intptr_t)argument, .events = POLLIN},
    };
    for (;;) {
        if (poll(events, 2, -1) < 0) continue;
        if (events[1].revents || (events[0].revents && peer_input_ended())) exit(0);
    }
}

void peer_end_when_told(void) {
    pthread_t thread;
    intptr_t descriptor = peer_signal_descriptor();
    if (pthread_create(&thread, NULL, wait_for_end, (void *)descriptor) != 0) peer_fail("cannot start a thread");
    pthread_detach(thread);
}
