// A machine whose clock is an hour ahead and runs 100 ppm fast, for a process that loads this before the C library. The clock
// of id 1000 is the true one.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRUE_CLOCK = 1000, AHEAD = 3600, PPM = 100 };
static const long long SECOND = 1000000000;
static long long begin;

static long long read_clock(clockid_t clock) {
    struct timespec time = {0, 0};
    syscall(SYS_clock_gettime, clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

__attribute__((constructor)) static void start(void) { begin = read_clock(CLOCK_MONOTONIC); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != TRUE_CLOCK && clock != CLOCK_BOOTTIME && clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    long long now = read_clock(clock == TRUE_CLOCK ? CLOCK_BOOTTIME : clock);
    if (clock != TRUE_CLOCK) now += (read_clock(CLOCK_MONOTONIC) - begin) * PPM / 1000000;
    if (clock == CLOCK_BOOTTIME) now += AHEAD * SECOND;
    time->tv_sec = now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}
